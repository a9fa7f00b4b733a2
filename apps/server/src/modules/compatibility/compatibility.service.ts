import type { BodyOf, Compatibility, endpoints } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toIsoOrNull } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { newSigningKey } from '../../core/signing/signing.ts'
import type { CompatibilityRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp, lockApp } from '../apps/apps.access.ts'
import type { AppRow } from '../apps/apps.service.ts'
import * as repo from './compatibility.repo.ts'
import { keyContext, newOwnerId, newSecret, secretContext, toHex } from './compatibility.rules.ts'
import type { SeenPrograms } from './compatibility.seen.ts'

interface Deps {
  ctx: Ctx
  seen: SeenPrograms
}

export async function getCompatibility(deps: Deps, scope: OwnerScope, app: string): Promise<Compatibility> {
  const { ctx } = deps
  const { id } = await getApp(ctx.db, scope, app)
  const row = await repo.findOfApp(ctx.db, scope, id)
  return row ? shown(deps, row) : notUsed
}

export type CompatibilityChange = BodyOf<typeof endpoints.compatibility.update>

export async function updateCompatibility(
  deps: Deps,
  actor: VendorActor,
  idOrAppId: string,
  change: CompatibilityChange,
): Promise<Compatibility> {
  const { ctx } = deps
  const save = await ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      const app = await getApp(tx, actor, idOrAppId)
      if (!(await lockApp(tx, actor, app.id))) throw problem('not_found')
      const before = await repo.findOfApp(tx, actor, app.id)
      const row = changed(ctx, before ?? newRow(ctx, app), change)
      if (await repo.isUsedByOther(tx, row)) throw problem('compatibility_taken')
      await repo.save(tx, row)
      const secretChanged = before !== undefined && before.secret_sealed !== row.secret_sealed
      const detail = { before: before ? recorded(before) : {}, after: recorded(row), secretChanged }
      write.record('app.compatibility_changed', app.id, detail, app.id)
      return row
    },
    { onTaken: () => problem('compatibility_taken') },
  )
  return shown(deps, save)
}

function newRow(ctx: Ctx, app: AppRow): CompatibilityRow {
  const key = newSigningKey()
  return {
    app_id: app.id,
    owner_id: app.owner_id,
    enabled: 0,
    owner_ref: newOwnerId(),
    name: app.name,
    protocols: JSON.stringify(['1.2', '1.3']),
    secret_sealed: ctx.seal.seal(newSecret(), secretContext(app.id)),
    public_key: toHex(key.x),
    key_sealed: ctx.seal.seal(key.privateKey, keyContext(app.id)),
    last_used_at: null,
  }
}

/** A secret that stays the same keeps its sealed form, so that the record says whether it changed. */
function changed(ctx: Ctx, row: CompatibilityRow, change: CompatibilityChange): CompatibilityRow {
  const { enabled, name = row.name, ownerId = row.owner_ref, secret, protocols } = change
  const context = secretContext(row.app_id)
  const isNew = secret !== undefined && secret !== ctx.seal.open(row.secret_sealed, context)
  return {
    ...row,
    enabled: enabled ? 1 : 0,
    name,
    owner_ref: ownerId,
    protocols: protocols ? JSON.stringify([...protocols].sort()) : row.protocols,
    secret_sealed: isNew ? ctx.seal.seal(secret, context) : row.secret_sealed,
  }
}

const recorded = ({ enabled, name, owner_ref, protocols }: CompatibilityRow) => ({
  enabled: enabled === 1,
  name,
  ownerId: owner_ref,
  protocols: JSON.parse(protocols) as string[],
})

async function shown({ ctx, seen }: Deps, row: CompatibilityRow): Promise<Compatibility> {
  const { last, programs } = await seen.read(row.app_id)
  return {
    enabled: row.enabled === 1,
    name: row.name,
    ownerId: row.owner_ref,
    secret: ctx.seal.open(row.secret_sealed, secretContext(row.app_id)),
    protocols: JSON.parse(row.protocols),
    publicKey: row.public_key,
    lastUsedAt: toIsoOrNull(Math.max(last ?? 0, row.last_used_at ?? 0) || null),
    programs,
  }
}

const notUsed: Compatibility = {
  enabled: false,
  name: null,
  ownerId: null,
  secret: null,
  protocols: ['1.2', '1.3'],
  publicKey: null,
  lastUsedAt: null,
  programs: 0,
}
