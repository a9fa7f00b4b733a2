import type { ApiKey, BodyOf, endpoints } from '@keyward/contract'
import type { OwnerScope, PersonActor, VendorActor } from '../../core/actor.ts'
import { hintOf, newApiKey } from '../../core/api-key.ts'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import { formatNetwork, parseNetwork } from '../../core/networks/networks.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { Tx } from '../../db/index.ts'
import type { ApiKeyRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockApps } from '../apps/apps.access.ts'
import { refuseFormerOwner } from '../owners/owners.service.ts'
import { findSessionStart } from '../sessions/sessions.service.ts'
import * as repo from './api-keys.repo.ts'

export const listApiKeys = async (ctx: Ctx, scope: OwnerScope): Promise<ApiKey[]> =>
  (await repo.listApiKeys(ctx.db, scope)).map(toApiKey)

/** The key that makes the call. */
export async function getOwnApiKey(ctx: Ctx, actor: VendorActor) {
  const row = await repo.findApiKey(ctx.db, actor, actor.actorId)
  // Revoked since it was authenticated.
  if (!row) throw problem('unauthorized')
  const { _id, name, permissions, apps, expiresAt } = toApiKey(row)
  return { _id, name, permissions, apps, expiresAt }
}

export type NewApiKey = BodyOf<typeof endpoints.apiKeys.create>

/** Returns the key itself, which nothing can return again: only its hash is stored. */
export async function createApiKey(
  ctx: Ctx,
  actor: PersonActor,
  wanted: NewApiKey,
): Promise<{ apiKey: ApiKey; key: string }> {
  if (wanted.permissions.some((one) => !actor.permissions.has(one))) throw problem('permission_missing')
  const now = ctx.clock.now()
  const expiresAt = wanted.expiresAt ? toEpochMs(wanted.expiresAt) : null
  if (expiresAt !== null && expiresAt <= now) throw invalid('expiresAt', 'The expiry must be in the future')
  const networks = toNetworks(wanted.networks ?? [])
  const key = newApiKey()
  const row = await ctx.tx(actor, async (write) => {
    const { tx } = write
    await refuseFormerOwner(tx, actor)
    await refuseEnded(tx, actor, now)
    const apps = wanted.apps ? await lockApps(tx, actor, wanted.apps) : null
    if (apps === undefined) throw problem('not_found')
    const row = {
      id: newId('key'),
      owner_id: actor.ownerId,
      key_hash: sha256(key),
      hint: hintOf(key),
      name: wanted.name,
      permissions: JSON.stringify(wanted.permissions),
      apps: apps && JSON.stringify(apps),
      networks: JSON.stringify(networks),
      expires_at: expiresAt,
      created_by: actor.actorId,
      created_at: now,
    }
    if (!(await repo.insertApiKey(tx, row))) throw problem('api_keys_full')
    write.record('api_key.created', row.id, {
      name: row.name,
      permissions: [...wanted.permissions],
      apps,
      expiresAt,
      networks,
    })
    return row
  })
  return { apiKey: toApiKey({ ...row, last_used_at: null, last_address: null }), key }
}

export async function revokeApiKey(ctx: Ctx, actor: PersonActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const revoked = await repo.revokeApiKey(write.tx, actor, id, write.now)
    if (!revoked) throw problem('not_found')
    await repo.deleteLongRevoked(write.tx, actor)
    write.record('api_key.revoked', id, { name: revoked.name })
  })
}

/** A call that began before a reset ended its session must not leave a key behind. */
async function refuseEnded(tx: Tx, actor: PersonActor, now: number): Promise<void> {
  const holder = { kind: 'account', id: actor.actorId } as const
  if ((await findSessionStart(tx, holder, actor.sessionId, now)) === undefined) throw problem('unauthorized')
}

/** In one spelling each, without repeats. */
function toNetworks(texts: readonly string[]): string[] {
  const written = texts.map((text, index) => {
    const network = parseNetwork(text)
    if (!network) {
      throw invalid(
        `networks.${index}`,
        'Must be an IP address, or a network of at most /8 (IPv4) or /16 (IPv6)',
      )
    }
    return formatNetwork(network)
  })
  return [...new Set(written)]
}

const toApiKey = (row: Omit<ApiKeyRow, 'revoked_at'>): ApiKey => ({
  _id: row.id,
  name: row.name,
  hint: row.hint,
  permissions: JSON.parse(row.permissions),
  apps: row.apps === null ? null : JSON.parse(row.apps),
  expiresAt: toIsoOrNull(row.expires_at),
  networks: JSON.parse(row.networks),
  createdAt: toIso(row.created_at),
  lastUsedAt: toIsoOrNull(row.last_used_at),
  lastAddress: row.last_address,
})
