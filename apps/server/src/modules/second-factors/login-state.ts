import { sameDigest, sha256 } from '../../core/crypto.ts'

/** What a sign-in that waits for a second factor remembers: a password that changes meanwhile ends it. */
export const toLoginState = (passwordHash: string) => ({ password: sha256(passwordHash) })

export const isStillValid = (state: unknown, passwordHash: string): boolean =>
  sameDigest((state as ReturnType<typeof toLoginState>).password, sha256(passwordHash))
