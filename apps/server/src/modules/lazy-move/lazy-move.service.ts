import type { BodyOf, endpoints, LazyMove } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { LazyMoveRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Outbound } from '../../service/outbound/outbound.ts'
import { getApp, lockApp } from '../apps/apps.access.ts'
import * as repo from './lazy-move.repo.ts'

export interface LazyMoveParts {
  ctx: Ctx
  outbound: Pick<Outbound, 'findFault'>
}

export async function getLazyMove({ ctx }: LazyMoveParts, scope: OwnerScope, app: string): Promise<LazyMove> {
  const { id } = await getApp(ctx.db, scope, app)
  return toShown(ctx.seal, await repo.findSettings(ctx.db, id))
}

export type NewLazyMove = BodyOf<typeof endpoints.lazyMove.update>

export function updateLazyMove(
  { ctx, outbound }: LazyMoveParts,
  actor: VendorActor,
  app: string,
  { secret = null, publicKey = null, until, ...wanted }: NewLazyMove,
): Promise<LazyMove> {
  const fault = outbound.findFault(wanted.url)
  if (fault !== undefined) throw invalid('url', fault)
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const { id } = await getApp(tx, actor, app)
    if (!(await lockApp(tx, actor, id))) throw problem('not_found')
    const before = await repo.findSettings(tx, id)
    const after = {
      app_id: id,
      owner_id: actor.ownerId,
      url: wanted.url,
      protocol: wanted.protocol,
      old_name: wanted.name,
      old_owner_id: wanted.ownerId,
      secret_sealed: secret === null ? null : ctx.seal.seal(secret, lazyMoveContext(id)),
      public_key: publicKey,
      until: until === null ? null : toEpochMs(until),
    }
    await repo.saveSettings(tx, after)
    const detail = { before: before ? toRecorded(before) : null, after: toRecorded(after) }
    write.record('app.lazy_move_changed', id, detail, id)
    return toShown(ctx.seal, await repo.findSettings(tx, id))
  })
}

export const lazyMoveContext = (appId: string) => `lazy move secret ${appId}`

/** The app's secret at the old provider; null if it was not set. */
export const secretOf = (
  seal: Seal,
  { app_id, secret_sealed }: Pick<LazyMoveRow, 'app_id' | 'secret_sealed'>,
): string | null => (secret_sealed === null ? null : seal.open(secret_sealed, lazyMoveContext(app_id)))

const toRecorded = (
  row: Pick<
    LazyMoveRow,
    'url' | 'protocol' | 'old_name' | 'old_owner_id' | 'secret_sealed' | 'public_key' | 'until'
  >,
) => ({
  origin: new URL(row.url).origin,
  protocol: row.protocol,
  name: row.old_name,
  ownerId: row.old_owner_id,
  verified: row.secret_sealed !== null || row.public_key !== null,
  until: row.until,
})

const toShown = (seal: Seal, row: LazyMoveRow | undefined): LazyMove => ({
  url: row?.url ?? null,
  protocol: row?.protocol ?? null,
  name: row?.old_name ?? null,
  ownerId: row?.old_owner_id ?? null,
  secret: row ? secretOf(seal, row) : null,
  publicKey: row?.public_key ?? null,
  until: toIsoOrNull(row?.until ?? null),
  moved: row?.moved ?? 0,
  failed: row?.failed ?? 0,
  lastFailure:
    row?.last_failure && row.last_failure_at !== null
      ? { at: toIso(row.last_failure_at), reason: row.last_failure }
      : null,
})
