import type { ClientStatus } from '@keyward/contract'
import { invalid } from '../../core/problem.ts'
import { prepareUsername, wrongUsername } from '../../core/username.ts'

/** Returns a new username as it is stored; rejects one with characters or writing directions that are not allowed. */
export function toNewUsername(username: string): string {
  const name = prepareUsername(username)
  const wrong = wrongUsername(name)
  if (wrong !== undefined) throw invalid('username', wrong)
  return name
}

/** The displayed status; a ban overrides expiry. */
export function clientStatus(client: { banned: number; expires_at: number }, now: number): ClientStatus {
  if (client.banned === 1) return 'banned'
  return client.expires_at <= now ? 'expired' : 'active'
}
