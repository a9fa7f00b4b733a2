import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What every API key begins with; no session's token does. */
export const apiKeyPrefix = 'kwa_'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 34
const form = /^kwa_([0-9A-Za-z]{34})([0-9A-Za-z]{6})$/
const hintLength = 4

/** Returns a new API key: 202 random bits, and a checksum by which secret scanners recognize a key offline. */
export function newApiKey(): string {
  const random = Array.from({ length: randomLength }, () => digits[randomInt(digits.length)]).join('')
  return `${apiKeyPrefix}${random}${checksumOf(random)}`
}

/** Whether a text has the form and the checksum of a key. */
export function isApiKey(text: string): boolean {
  const [, random = '', checksum] = form.exec(text) ?? []
  return checksum !== undefined && checksumOf(random) === checksum
}

/** What lists show of a key. */
export const hintOf = (key: string): string => key.slice(-hintLength)

/** The CRC-32 as six base62 digits. */
function checksumOf(random: string): string {
  let [rest, written] = [crc32(random), '']
  for (let at = 0; at < 6; at += 1) {
    written = `${digits[rest % digits.length]}${written}`
    rest = Math.floor(rest / digits.length)
  }
  return written
}
