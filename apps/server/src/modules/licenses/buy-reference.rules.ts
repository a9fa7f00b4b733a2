import type { Seal } from '../../core/crypto.ts'

type Keyed = Pick<Seal, 'proof'>

const form = /^kwr_[\w-]{36}$/
/**
 * The bytes that base64url encodes as `kwr_`. Prepending the text would make a concatenated string, and `JSON.stringify` takes
 * twice as long for a page of such strings.
 */
const prefix = Buffer.from('kwr_', 'base64url').toString('hex')
const idBytes = 16
const proofDigits = 22

/**
 * The reference that links to a shop carry: the digits of the license's id, and a proof that the server made it, by the key
 * of keyed hashes, which outlasts every new secret key. It is worth nothing but a payment.
 */
export function toBuyReference({ proof }: Keyed, licenseId: string): string {
  const digits = licenseId.slice('lic_'.length)
  return Buffer.from(prefix + digits + proofOf(proof, digits), 'hex').toString('base64url')
}

/** The id of the license that a reference names, which may be deleted or another vendor's; undefined for any other text. */
export function readBuyReference({ proof }: Keyed, text: string): string | undefined {
  const reference = text.trim()
  if (!form.test(reference)) return undefined
  const hex = Buffer.from(reference, 'base64url').toString('hex').slice(prefix.length)
  const digits = hex.slice(0, 2 * idBytes)
  return hex.slice(2 * idBytes) === proofOf(proof, digits) ? `lic_${digits}` : undefined
}

const proofOf = (proof: Seal['proof'], digits: string): string =>
  proof(`buy-reference:${digits}`).slice(0, proofDigits)
