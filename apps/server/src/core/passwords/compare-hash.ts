import { verifySync } from '@node-rs/argon2'
import { verifySync as verifyBcrypt } from '@node-rs/bcrypt'
import { costOf, formsOfPassword, isImportedHash } from './imported-hashes.ts'

/** What each comparison of a wrong password must cost, so that its time does not reveal the stored hash. */
export interface Evenly {
  /** The bcrypt cost of the dearest hash that may be stored. */
  cost: number
  /** A hash of our own that no password matches. */
  decoy: string
}

interface Comparison {
  hash: string
  form: string
  isDecoy: boolean
}

/** Every bcrypt comparison takes as long as its cost says, whatever the hash is. */
const decoyOf = (cost: number): string => `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`

/**
 * The comparisons of a password with a stored hash, our own or one of another system. With `evenly`, decoys follow, so that
 * all of them together cost the same for any hash: 2^c and 2^c, 2^(c+1) up to 2^(n-1) are 2^n.
 */
export function comparisonsOf(stored: string, password: string, evenly?: Evenly): Comparison[] {
  const forms = formsOfPassword(password)
  const cost = costOf(stored)
  const isImported = isImportedHash(stored)
  const real = isImported
    ? forms.map((form) => ({ hash: stored, form, isDecoy: false }))
    : [{ hash: stored, form: password.normalize('NFKC'), isDecoy: false }]
  if (!evenly) return real
  const costs = isImported
    ? Array.from({ length: Math.max(0, evenly.cost - cost) }, (_, at) => cost + at)
    : [evenly.cost]
  const decoys = forms.flatMap((form) => costs.map((one) => ({ hash: decoyOf(one), form, isDecoy: true })))
  const own = isImported ? [{ hash: evenly.decoy, form: password.normalize('NFKC'), isDecoy: true }] : []
  return [...real, ...decoys, ...own]
}

export function compareHash(stored: string, password: string, evenly?: Evenly): boolean {
  for (const { hash, form, isDecoy } of comparisonsOf(stored, password, evenly)) {
    const matches = isImportedHash(hash) ? verifyBcrypt(form, hash) : verifySync(hash, form)
    if (matches && !isDecoy) return true
  }
  return false
}
