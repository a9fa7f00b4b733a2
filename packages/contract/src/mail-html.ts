// What HTML of a mail is refused for. It is read as browsers read it, because a difference would hide what is refused;
// comments are read as well, because some mail programs do.
import { known, linkPlaceholders, toPlainText, unprintable } from './app-mail-text.ts'

type Part =
  | { kind: 'text' | 'style' | 'comment'; text: string }
  | { kind: 'tag'; text: string; name: string; isEnd: boolean; attributes: ReadonlyMap<string, string> }

const tagStart = /<(\/?)([a-z][^\s/>]*)/iy
/** An attribute; a quote that never ends takes the rest. */
const attribute =
  /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\s>"'][^\s>]*))?)?/y
const tagEnd = /[\s/]*(?:>|$)/y
/** A comment, which browsers end at `-->`, `--!>` or, where nothing is in it, `>`; and what they take for one. */
const comment = /<!--(?:-?>|([\s\S]*?)(?:--!?>|$))|<(?:[!?]|\/(?![a-z]))[^>]*(?:>|$)/iy
const text = /<?[^<]*/y
const rawEnd = { style: /<\/style(?=[\s/>])|$/gi, title: /<\/title(?=[\s/>])|$/gi }

function* partsOf(html: string): Generator<Part> {
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(html)
    if (found) at = found.index + found[0].length
    return found
  }
  while (at < html.length) {
    const from = at
    const start = next(tagStart)
    if (!start) {
      const hidden = next(comment)
      // One that contains another is read once.
      if (hidden) yield { kind: 'comment', text: hidden[1]?.replaceAll('<!--', ' ') ?? '' }
      else yield { kind: 'text', text: next(text)?.[0] ?? '' }
      continue
    }
    const attributes = new Map<string, string>()
    while (!next(tagEnd)) {
      const [, name = '', ...values] = next(attribute) ?? []
      // Browsers keep the first of two.
      if (!attributes.has(name.toLowerCase()))
        attributes.set(name.toLowerCase(), decodeEntities(values.find((value) => value !== undefined) ?? ''))
    }
    const name = start[2]?.toLowerCase() ?? ''
    const isEnd = start[1] === '/'
    yield { kind: 'tag', text: html.slice(from, at), name, isEnd, attributes }
    if (isEnd || (name !== 'style' && name !== 'title')) continue
    const begun = at
    const end = next(rawEnd[name])?.index ?? html.length
    at = end
    yield { kind: 'style', text: html.slice(begun, end) }
  }
}

/** Whether HTML that was saved by older rules may be sent, with what its placeholders became. */
export const isSafeHtml = (template: string, rendered: string): boolean =>
  refusedElement(template) === undefined &&
  placeholdersInTags(template).length === 0 &&
  deceivingLink(rendered) === undefined

/** What moves links, loads or sends something, or is read by rules of its own. */
const refused = new Set(
  'base embed form frame frameset iframe math noembed noframes noscript object plaintext script svg textarea xmp'.split(
    ' ',
  ),
)
const isRefused = (name: string, attributes: ReadonlyMap<string, string>): boolean =>
  refused.has(name) || (name === 'meta' && /refresh/i.test(attributes.get('http-equiv') ?? ''))

/** The name of the first element that a mail cannot have; undefined if there is none. */
export function refusedElement(html: string): string | undefined {
  for (const part of partsOf(html)) {
    if (part.kind === 'tag' && isRefused(part.name, part.attributes)) return part.name
    const found = part.kind === 'comment' ? refusedElement(part.text) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

const mayBeInTag = new Set<string>(linkPlaceholders.map((name) => `{${name}}`))

/** The placeholders that stand where a mail program may send them: the key would be in the address of a picture. */
export function placeholdersInTags(html: string): string[] {
  const found = new Set<string>()
  for (const part of partsOf(html)) {
    if (part.kind === 'text') continue
    if (part.kind === 'comment') {
      for (const one of placeholdersInTags(part.text)) found.add(one)
      continue
    }
    for (const [one] of part.text.matchAll(known))
      if (part.kind === 'style' || !mayBeInTag.has(one.trim())) found.add(one.trim())
  }
  return [...found]
}

/** What a reader takes for an address of a page or a mailbox. */
const addressLike =
  /(?:[a-z][a-z0-9+.-]{0,20}:\/\/|www\.|@)?[\p{L}\p{N}-]{1,63}(?:[.。][\p{L}\p{N}-]{1,63}){0,9}[.。]\p{L}{2,63}/giu

/** The text of the first link that reads like an address and leads to another one; undefined if there is none. */
export function deceivingLink(html: string): string | undefined {
  let link: { host: string; shown: string } | undefined
  for (const part of [...partsOf(html), undefined]) {
    if (part?.kind === 'comment') {
      const found = deceivingLink(part.text)
      if (found !== undefined) return found
    }
    if (part === undefined || (part.kind === 'tag' && (part.name === 'a' || part.name === 'area'))) {
      if (link && deceives(link)) return toPlainText(link.shown)
      const href = part?.isEnd === false ? part.attributes.get('href') : undefined
      link = href === undefined ? undefined : { host: hostOf(href), shown: part?.attributes.get('alt') ?? '' }
    } else if (link && part.kind === 'text') link.shown += decodeEntities(part.text)
    else if (link && part.kind === 'tag') link.shown += part.attributes.get('alt') ?? ''
  }
  return undefined
}

function deceives({ host, shown }: { host: string; shown: string }): boolean {
  const text = shown.normalize('NFKC').replace(unprintable, '')
  return [...text.matchAll(addressLike)].some(
    ([address]) =>
      !`.${host}`.endsWith(
        `.${hostOf(/^[a-z][a-z0-9+.-]*:/i.test(address) ? address : `https://${address}`)}`,
      ),
  )
}

/** The host of an absolute address of a page or a mailbox, in ASCII; empty for another one. */
function hostOf(address: string): string {
  try {
    const url = new URL(address.replace(/^\s*mailto:(?:[^?]*@)?/i, 'https://'))
    return url.protocol === 'https:' || url.protocol === 'http:'
      ? url.hostname.replace(/^www\.|\.$/g, '')
      : ''
  } catch {
    return ''
  }
}

const named: Record<string, string> = {
  amp: '&',
  period: '.',
  commat: '@',
  sol: '/',
  colon: ':',
  nbsp: ' ',
  shy: '',
}
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));?/gi, (whole, hex, digits, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole
    const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
