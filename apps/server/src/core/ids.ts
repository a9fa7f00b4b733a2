import { randomInt, randomUUIDv7 } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { limits } from '@keyward/contract/constants'
import { toAsciiDomain } from '@keyward/contract/email-address'
import { randomBytes } from './crypto.ts'

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** A sortable id: a prefix and the 32 hex digits of a UUIDv7. */
export const newId = (prefix: string): string => `${prefix}_${randomUUIDv7().replaceAll('-', '')}`

/** 256 random bits with a prefix: a session token of an owner or reseller, or of a link (`kwp`, `kwi`, `kwf`, `kwu`). */
export const newToken = (
  prefix: 'kwo' | 'kwr' | 'kwp' | 'kwi' | 'kwf' | 'kwd' | 'kwc' | 'kwl' | 'kwu',
): string => `${prefix}_${randomBytes(32).toString('base64url')}`

/** 256 random bits: the challenge of a second factor, also that of WebAuthn. */
export const newChallenge = (): string => randomBytes(32).toString('base64url')

/** 25 characters of Crockford base32 (125 random bits) in groups of five. */
export function newLicenseKey(): string {
  let key = ''
  for (const [at, byte] of randomBytes(25).entries()) {
    if (at > 0 && at % 5 === 0) key += '-'
    key += crockford[byte & 31]
  }
  return key
}

const pick = (length: number, alphabet: string): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')

/** A password that an operator can read out: 20 characters (100 random bits) in groups of five. */
export const newPassword = (): string => pick(20, crockford.toLowerCase()).replace(/.{5}(?=.)/g, '$&-')

/** The 8-character public id of an app. */
export const newAppId = (): string => pick(limits.appIdLength, crockford)

/** The 32-character secret of an app (about 190 bits). */
export const newAppSecret = (): string => pick(limits.appSecretLength, alphanumeric)

/** A receipt number such as KW-20260304-7F3K9Q2M: the UTC day and 40 random bits. */
export const newReceipt = (now: number): string =>
  `KW-${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}-${pick(8, crockford)}`

/**
 * Normalizes license keys for comparison: compatible forms and case of letters, without spaces, underscores, dashes
 * and quotes of any kind, and invisible characters.
 */
export function normalizeKey(key: string): string {
  // Most keys are sent as they were issued.
  if (issued.test(key)) return key.replaceAll('-', '')
  // Remove them before NFKC, too: it splits an accent used as a quote into a space and a combining mark.
  return key.replace(ignored, '').normalize('NFKC').toUpperCase().replace(ignored, '')
}
const issued = /^[\dA-Z-]+$/
const ignored = /[\s_`´′″\p{Dash}\p{Quotation_Mark}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]/gu

/** A key that a person typed or pasted, in the two forms in which it is looked up. */
export interface TypedKey {
  /** The form in which `key_normalized` stores keys. */
  exact: string
  /** With O as 0, and I and L as 1. */
  typed: string
}

export function toTypedKey(key: string): TypedKey {
  const exact = normalizeKey(key)
  return { exact, typed: toTyped(exact) }
}

/** The typed form of a key in `key_normalized`. */
export const toTyped = (exact: string): string => exact.replaceAll('O', '0').replace(/[IL]/g, '1')

/** Normalizes names for comparison. */
export const normalizeName = (name: string): string => name.normalize('NFKC').trim().toLowerCase()

/** Normalizes email addresses for comparison: without regard to case, with the domain in ASCII. */
export function normalizeEmail(address: string): string {
  const name = normalizeName(address)
  const at = name.lastIndexOf('@') + 1
  return name.slice(0, at) + (at === 0 ? name : (toAsciiDomain(name.slice(at)) ?? name.slice(at)))
}

/** How texts may contain an address that `normalizeEmail` wrote. */
export function formsOfEmail(normalized: string): string[] {
  const at = normalized.lastIndexOf('@') + 1
  return [...new Set([normalized, normalized.slice(0, at) + domainToUnicode(normalized.slice(at))])]
}

/** The beginning of an address, or a part of one, as `normalizeEmail` writes it: `münchen.de` is found too. */
export const normalizeEmailPart = (text: string): string =>
  text.includes('@') ? normalizeEmail(text) : (toAsciiDomain(normalizeName(text)) ?? normalizeName(text))

/** How other systems compare names and keys: without regard to case and accents. */
export const toFolded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 's').replaceAll('ı', 'i')
