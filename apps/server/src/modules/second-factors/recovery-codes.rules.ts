import { randomBytes } from 'node:crypto'
import { limits, normalizeCrockford } from '@keyward/contract'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 16 characters of Crockford base32 (80 random bits) in groups of four. */
const newCode = (): string =>
  [...randomBytes(16)]
    .map((byte) => alphabet[byte & 31])
    .join('')
    .replace(/.{4}(?=.)/g, '$&-')

export const newRecoveryCodes = (): string[] => Array.from({ length: limits.recoveryCodes }, newCode)

/** The text of a code that is hashed; a code may be typed in any case, without dashes. */
export const normalizeRecoveryCode = (code: string): string => normalizeCrockford(code)
