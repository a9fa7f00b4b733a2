import type { ClientStatus } from '@keyward/contract'

/** The displayed status; a ban overrides expiry. */
export function clientStatus(client: { banned: number; expires_at: number }, now: number): ClientStatus {
  if (client.banned === 1) return 'banned'
  return client.expires_at <= now ? 'expired' : 'active'
}
