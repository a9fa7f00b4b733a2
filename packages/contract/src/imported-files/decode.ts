/** Files that are no text, by their first bytes. */
const binaries: readonly (readonly [start: readonly number[], message: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'The file is a spreadsheet or an archive. Save its table as CSV.'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'The file is a spreadsheet. Save its table as CSV.'],
  [[0x1f, 0x8b], 'The file is compressed. Unpack it first.'],
  [[0x25, 0x50, 0x44, 0x46], 'The file is a PDF. Save its table as CSV.'],
]

export type Decoded = { text: string; guessed: boolean } | { problem: string }

/** The text of a file; `guessed` if it does not say its encoding and is not UTF-8, so letters with accents can be wrong. */
export function decodeFile(bytes: Uint8Array): Decoded {
  const binary = binaries.find(([start]) => start.every((byte, at) => bytes[at] === byte))
  if (binary) return { problem: binary[1] }
  const encoding = encodingOf(bytes)
  // A pair of bytes that UTF-16 does not know becomes a replacement character, which rows report.
  if (encoding !== undefined) return { text: new TextDecoder(encoding).decode(bytes), guessed: false }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), guessed: false }
  } catch {
    // Spreadsheets of Western languages save CSV like this.
    return { text: new TextDecoder('windows-1252').decode(bytes), guessed: true }
  }
}

/** UTF-16 by its byte order mark, or by the zero bytes of its Latin letters. */
function encodingOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const start = bytes.subarray(0, 256)
  if (start.length < 8) return undefined
  const zeros = [0, 0]
  start.forEach((byte, at) => {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  })
  const [even = 0, odd = 0] = zeros
  if (odd > start.length * 0.4 && even === 0) return 'utf-16le'
  if (even > start.length * 0.4 && odd === 0) return 'utf-16be'
  return undefined
}
