/** What a program without a connection sends its vendor. */
export interface OfflineRequest {
  /** 16 hex digits. */
  nonce: string
  /** SHA-256 of the hardware id, hex. */
  hwidHash: string
  /** The key as the user typed it. */
  licenseKey: string
  /** The bytes that `check` covers, after the app id. */
  body: Uint8Array
  /** The first 4 bytes of SHA-256(app id + body). */
  check: Uint8Array
}

const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const version = 1
const nonceEnd = 9
const keyStart = 41
const checkLength = 4
const keyMax = 100

/** Crockford base32 as people type it: any case, blanks and dashes anywhere, O as 0, I and L as 1. */
export const normalizeCrockford = (text: string): string =>
  text
    .replace(/[\s\p{Pd}]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')

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

/** Undefined unless the text is the one way to write these bytes. */
function fromCrockford(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8))
  let at = 0
  let bits = 0
  let value = 0
  for (const symbol of text) {
    const digit = symbols.indexOf(symbol)
    if (digit < 0) return undefined
    value = ((value << 5) | digit) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = value >> bits
  }
  return toCrockford(bytes) === text ? bytes : undefined
}

/** Takes a request apart; undefined for any other text. The caller compares `check`. */
export function readOfflineRequest(text: string): OfflineRequest | undefined {
  const normalized = normalizeCrockford(text)
  if (!normalized.startsWith('KWR1')) return undefined
  const bytes = fromCrockford(normalized.slice(4))
  if (!bytes || bytes.length <= keyStart + checkLength || bytes[0] !== version) return undefined
  const body = bytes.subarray(0, -checkLength)
  const licenseKey = toText(body.subarray(keyStart))
  if (licenseKey === undefined || licenseKey !== licenseKey.trim()) return undefined
  const { length } = [...licenseKey]
  if (length < 1 || length > keyMax) return undefined
  return {
    nonce: toHex(body.subarray(1, nonceEnd)),
    hwidHash: toHex(body.subarray(nonceEnd, keyStart)),
    licenseKey,
    body,
    check: bytes.subarray(-checkLength),
  }
}

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
