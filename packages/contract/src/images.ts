/** What the bytes of a picture say of it. */
export interface ImageFacts {
  type: 'image/png' | 'image/jpeg'
  width: number
  height: number
}

const pngStart = '\x89PNG\r\n\x1a\n'
/** The chunk that ends each file; what follows it would be another file. */
const pngEnd = '\0\0\0\0IEND\xaeB`\x82'

/** Reads the first bytes of a PNG or a JPEG, given as text with a character for each byte; undefined for everything else. */
export function imageOf(bytes: string): ImageFacts | undefined {
  const at = (index: number) => bytes.charCodeAt(index)
  const short = (index: number) => at(index) * 256 + at(index + 1)
  if (bytes.startsWith(pngStart) && bytes.endsWith(pngEnd) && bytes.startsWith('IHDR', 12))
    return {
      type: 'image/png',
      width: short(16) * 65_536 + short(18),
      height: short(20) * 65_536 + short(22),
    }
  if (!bytes.startsWith('\xff\xd8\xff') || !bytes.endsWith('\xff\xd9')) return undefined
  // The size stands in the frame, behind segments that say their length. Behind the end there is none to go on with.
  for (let index = 2; index + 9 <= bytes.length && at(index) === 0xff; index += 2 + short(index + 2)) {
    const marker = at(index + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { type: 'image/jpeg', width: short(index + 7), height: short(index + 5) }
    if (marker === 0xda) return undefined
  }
  return undefined
}
