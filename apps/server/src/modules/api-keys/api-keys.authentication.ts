import type { Permission } from '@keyward/contract'
import type { ApiKeyActor } from '../../core/actor.ts'
import { isApiKey } from '../../core/api-key.ts'
import { minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { NetworkSet, parseNetwork } from '../../core/networks/networks.ts'
import { type Problem, problem } from '../../core/problem.ts'
import { storageFailureOf } from '../../db/failure.ts'
import type { ApiKeyRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { apiKeyByHash, noteUse } from './api-keys.repo.ts'

/** The last use is stored at most this often, so that reads do not become writes. */
const noteUseAfterMs = 5 * minute

interface Call {
  token: string
  address: string
  /** Counts the request of a key; a problem if it has made too many. */
  count: (id: string) => Problem | undefined
}

/** Resolves an API key to its actor; undefined if it is unknown, expired or revoked. */
export async function authenticateApiKey(
  ctx: Pick<Ctx, 'db' | 'clock'>,
  { token, address, count }: Call,
): Promise<ApiKeyActor | undefined> {
  if (!isApiKey(token)) return undefined
  const row = await apiKeyByHash.first(ctx.db, { keyHash: sha256(token) })
  const now = ctx.clock.now()
  if (!row || row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) return undefined
  if (row.disabled_at !== null) throw problem('vendor_disabled')
  // A key that leaked must not use up its requests from elsewhere.
  if (!worksFrom(JSON.parse(row.networks), address)) throw problem('network_not_allowed')
  const refusal = count(row.id)
  if (refusal) throw refusal
  await note(ctx, row, { now, address })
  return {
    kind: 'api_key',
    actorId: row.id,
    ownerId: row.owner_id,
    apps: row.apps === null ? null : new Set<string>(JSON.parse(row.apps)),
    permissions: new Set<Permission>(JSON.parse(row.permissions)),
    isOwner: false,
    sessionId: null,
    address,
  }
}

function worksFrom(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true
  const allowed = networks.flatMap((text) => {
    const network = parseNetwork(text)
    return network ? [[network, true] as const] : []
  })
  return new NetworkSet(allowed).find(parseNetwork(address)) ?? false
}

/** A full disk must not fail a read. */
async function note(
  { db }: Pick<Ctx, 'db'>,
  { id, last_used_at }: Pick<ApiKeyRow, 'id' | 'last_used_at'>,
  { now, address }: { now: number; address: string },
): Promise<void> {
  const before = now - noteUseAfterMs
  if (last_used_at !== null && last_used_at > before) return
  try {
    await noteUse(db, id, { now, before, address })
  } catch (error) {
    if (storageFailureOf(error) !== 'storage_full') throw error
  }
}
