import type { ClientStatus } from '@keyward/contract'

/** How an end user is shown: Banned wins over Expired. */
export function clientStatus(client: { banned: number; expires_at: number }, now: number): ClientStatus {
  if (client.banned === 1) return 'banned'
  return client.expires_at <= now ? 'expired' : 'active'
}
