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

const [percent, plus, space] = [0x25, 0x2b, 0x20]

/** Replaces escapes in place, in one pass: a body of nothing else must not take longer than its length. */
function decoded(text: string): string {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text
  const bytes = Buffer.from(text)
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    const escaped = byte === percent ? 16 * digitAt(bytes, at + 1) + digitAt(bytes, at + 2) : -1
    if (escaped >= 0) at += 2
    bytes[end] = escaped >= 0 ? escaped : byte === plus ? space : byte
    end += 1
  }
  return bytes.toString('utf8', 0, end)
}

/** The value of a hexadecimal digit; far below zero for anything else. */
function digitAt(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1000
}

/** JSON of ASCII characters alone; protocols before 1.3 also escape slashes. Signatures cover these bytes. */
export function asciiJson(value: object, escapesSlashes: boolean): string {
  const json = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return escapesSlashes ? json.replaceAll('/', '\\/') : json
}
