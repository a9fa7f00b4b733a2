const blank = ' \t\n\r\0\v'

/**
 * Space, tab, line feed, carriage return, NUL and vertical tab at both ends, as the old servers removed them. A regular
 * expression would compare each of many spaces in the middle with all that follow it.
 */
export function trimmed(text: string): string {
  let begin = 0
  let end = text.length
  while (begin < end && blank.includes(text[begin]!)) begin += 1
  while (end > begin && blank.includes(text[end - 1]!)) end -= 1
  return text.slice(begin, end)
}

const pairsMax = 256

/**
 * The fields of a form or a query. Programs send values that are not encoded, so a `%` that begins no escape, spaces
 * and braces are taken as they are. Bytes that are not UTF-8 become U+FFFD.
 */
export function readForm(form: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const pair of form.split('&', pairsMax)) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const name = decoded(at === -1 ? pair : pair.slice(0, at))
    if (name !== '') fields.set(name, at === -1 ? '' : decoded(pair.slice(at + 1)))
  }
  return fields
}

const decoded = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  const bytes: Buffer[] = []
  let plain = 0
  for (const { index, 0: encoded } of spaced.matchAll(/%[0-9a-f]{2}/gi)) {
    bytes.push(Buffer.from(spaced.slice(plain, index)), Buffer.from(encoded.slice(1), 'hex'))
    plain = index + 3
  }
  bytes.push(Buffer.from(spaced.slice(plain)))
  return Buffer.concat(bytes).toString()
}

/** JSON of ASCII characters alone; protocols before 1.3 also escape slashes. Signatures cover these bytes. */
export function asciiJson(value: object, escapesSlashes: boolean): string {
  const json = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return escapesSlashes ? json.replaceAll('/', '\\/') : json
}
