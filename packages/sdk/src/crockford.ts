const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Crockford base32 in upper case without padding; zero bits fill the last symbol. */
export function toCrockford(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; bits -= 5) text += symbols[(value >> (bits - 5)) & 31]
  }
  return bits === 0 ? text : text + symbols[(value << (5 - bits)) & 31]
}

/** Groups of `size` symbols with dashes between them. */
export const grouped = (text: string, size: number): string =>
  text.match(new RegExp(`.{1,${size}}`, 'g'))?.join('-') ?? ''
