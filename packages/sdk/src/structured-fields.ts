import { fromBase64 } from './bytes.ts'

/** A bare item of RFC 9651, tagged with its type so that a token is never mistaken for a string. */
type BareItem =
  | { type: 'string' | 'token'; value: string }
  | { type: 'integer' | 'decimal' | 'date'; value: number }
  | { type: 'boolean'; value: boolean }
  | { type: 'bytes'; value: Uint8Array }

/** Parameters in their original order. */
export type Parameters = Map<string, BareItem>

export interface Item {
  kind: 'item'
  value: BareItem
  params: Parameters
}

export interface InnerList {
  kind: 'list'
  items: Item[]
  params: Parameters
}

/** The text is not a dictionary by the rules of this parser. */
export class StructuredFieldError extends Error {
  override readonly name = 'StructuredFieldError'
}

const maxLength = 16_384
const keyPattern = /[a-z*][a-z0-9_.*-]*/y
const tokenPattern = /[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*/y
const numberPattern = /-?(?:(\d{1,12}\.\d{1,3})|(\d{1,15}))(?![\d.])/y
const stringPattern = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y
const bytesPattern = /:([A-Za-z0-9+/]*={0,2}):/y

/**
 * Parses a dictionary of RFC 9651 (`Signature`, `Signature-Input`, `Content-Digest`) more strictly than the RFC:
 * repeated keys are errors, and byte sequences must be canonical base64, so that each value has one spelling.
 */
export function parseDictionary(text: string): Map<string, Item | InnerList> {
  if (text.length > maxLength) throw new StructuredFieldError('The field is too long')
  let at = 0

  const fail: (what: string) => never = (what) => {
    throw new StructuredFieldError(`${what} at ${at}`)
  }
  const skip = (characters: string) => {
    while (at < text.length && characters.includes(text[at]!)) at++
  }
  const take = (pattern: RegExp, what: string): RegExpExecArray => {
    pattern.lastIndex = at
    const match = pattern.exec(text) ?? fail(`Expected ${what}`)
    at += match[0].length
    return match
  }

  const bareItem = (): BareItem => {
    const first = text[at] ?? ''
    if (first === '"') {
      return { type: 'string', value: take(stringPattern, 'a string')[1]!.replace(/\\(.)/g, '$1') }
    }
    if (first === ':') return { type: 'bytes', value: toBytes(take(bytesPattern, 'a byte sequence')[1]!) }
    if (first === '?') {
      const flag = text[at + 1]
      if (flag !== '0' && flag !== '1') fail('Expected a boolean')
      at += 2
      return { type: 'boolean', value: flag === '1' }
    }
    if (first === '@') {
      at++
      const match = take(numberPattern, 'a date')
      return match[2] === undefined ? fail('Expected a date') : { type: 'date', value: Number(match[0]) }
    }
    if (/[-0-9]/.test(first)) {
      const match = take(numberPattern, 'a number')
      return { type: match[2] === undefined ? 'decimal' : 'integer', value: Number(match[0]) }
    }
    return { type: 'token', value: take(tokenPattern, 'an item')[0] }
  }

  const toBytes = (base64: string): Uint8Array => {
    return fromBase64(base64) ?? fail('Not canonical base64')
  }

  const parameters = (): Parameters => {
    const params: Parameters = new Map()
    while (text[at] === ';') {
      at++
      skip(' ')
      const key = take(keyPattern, 'a parameter')[0]
      if (params.has(key)) fail(`Parameter ${key} is repeated`)
      if (text[at] === '=') {
        at++
        params.set(key, bareItem())
      } else {
        params.set(key, { type: 'boolean', value: true })
      }
    }
    return params
  }

  const item = (): Item => ({ kind: 'item', value: bareItem(), params: parameters() })

  const innerList = (): InnerList => {
    at++
    const items: Item[] = []
    for (;;) {
      skip(' ')
      if (text[at] === ')') break
      items.push(item())
      if (text[at] !== ' ' && text[at] !== ')') fail('Expected a space or the end of the list')
    }
    at++
    return { kind: 'list', items, params: parameters() }
  }

  const member = (): Item | InnerList => {
    if (text[at] !== '=') {
      return { kind: 'item', value: { type: 'boolean', value: true }, params: parameters() }
    }
    at++
    return text[at] === '(' ? innerList() : item()
  }

  const members = new Map<string, Item | InnerList>()
  skip(' ')
  while (at < text.length) {
    const key = take(keyPattern, 'a key')[0]
    if (members.has(key)) fail(`Key ${key} is repeated`)
    members.set(key, member())
    skip(' \t')
    if (at === text.length) break
    if (text[at] !== ',') fail('Expected a comma')
    at++
    skip(' \t')
    if (at === text.length) fail('Unexpected end after a comma')
  }
  return members
}

/** Serializes a string item; the text must be printable ASCII, as every parsed string is. */
export function serializeString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
