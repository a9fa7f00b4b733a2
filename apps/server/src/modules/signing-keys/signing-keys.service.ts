import type { SigningKey } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { newSigningKey, toJwk } from '../../core/signing/signing.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { AppRow, SigningKeyRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp, lockKeys, setUsualKey } from '../apps/apps.access.ts'
import { signingContext } from '../apps/apps.service.ts'
import * as repo from './signing-keys.repo.ts'

const keysPerAppMax = 50

export async function listSigningKeys(ctx: Ctx, scope: OwnerScope, idOrAppId: string): Promise<SigningKey[]> {
  const app = await getApp(ctx.db, scope, idOrAppId)
  const rows = await repo.listKeys(ctx.db, scope, app.id)
  return (rows.length > 0 ? rows : [firstKey(app)]).map(toSigningKey)
}

export async function createSigningKey(
  ctx: Ctx,
  actor: VendorActor,
  idOrAppId: string,
): Promise<SigningKey[]> {
  const made = newSigningKey()
  return change(ctx, actor, idOrAppId, async (write, app, rows) => {
    if (rows.some(({ status }) => status === 'next')) {
      throw problem('conflict', { message: 'The app has a next key already: promote or revoke it first' })
    }
    if (rows.length >= keysPerAppMax) {
      throw problem('conflict', { message: `An app can have at most ${keysPerAppMax} signing keys` })
    }
    if (app.signing_version === 1) await repo.insertKey(write.tx, firstKey(app))
    await repo.insertKey(write.tx, {
      kid: made.kid,
      owner_id: actor.ownerId,
      app_id: app.id,
      number: (rows[0]?.number ?? 0) + 1,
      public_key: made.x,
      sealed: ctx.seal.seal(made.privateKey, signingContext(app.id)),
      status: 'next',
      created_at: write.now,
    })
    write.record('app.signing_key_created', app.id, { kid: made.kid }, app.id)
  })
}

/** Makes the next key the current one. Both keep signing, each for the programs that name it. */
export const promoteSigningKey = (ctx: Ctx, actor: VendorActor, idOrAppId: string, kid: string) =>
  change(ctx, actor, idOrAppId, async (write, app, rows) => {
    const key = find(rows, kid)
    const current = rows.find(({ status }) => status === 'current')
    if (key.status !== 'next' || !current)
      throw problem('conflict', { message: 'Only the next key can be promoted' })
    await repo.setStatus(write.tx, actor, app.id, current.kid, 'retired')
    await repo.setStatus(write.tx, actor, app.id, kid, 'current')
    write.record('app.signing_key_promoted', app.id, { kid, retired: current.kid }, app.id)
  })

/** Stops signing with a key. Programs that name no key get the oldest one left. */
export const revokeSigningKey = (ctx: Ctx, actor: VendorActor, idOrAppId: string, kid: string) =>
  change(ctx, actor, idOrAppId, async (write, app, rows) => {
    const key = find(rows, kid)
    if (key.status === 'current') {
      throw problem('conflict', { message: 'The current key cannot be revoked: promote the next key first' })
    }
    if (key.status === 'revoked') throw problem('conflict', { message: 'This key is revoked already' })
    await repo.setStatus(write.tx, actor, app.id, kid, 'revoked')
    const oldest = rows.findLast((row) => row.kid !== kid && row.status !== 'revoked')
    if (app.signing_kid === kid && oldest) await setUsualKey(write.tx, actor, app.id, oldest)
    write.record('app.signing_key_revoked', app.id, { kid }, app.id)
  })

/** Runs a change on an app whose keys are locked; `rows` are its keys, newest first, as before the change. */
async function change(
  ctx: Ctx,
  actor: VendorActor,
  idOrAppId: string,
  run: (write: WriteTransaction, app: AppRow, rows: SigningKeyRow[]) => Promise<void>,
): Promise<SigningKey[]> {
  const rows = await ctx.tx(actor, async (write) => {
    const { id } = await getApp(write.tx, actor, idOrAppId)
    const app = await lockKeys(write.tx, actor, id)
    if (!app) throw problem('not_found')
    const stored = await repo.listKeys(write.tx, actor, id)
    await run(write, app, stored.length > 0 ? stored : [firstKey(app)])
    return repo.listKeys(write.tx, actor, id)
  })
  return rows.map(toSigningKey)
}

function find(rows: SigningKeyRow[], kid: string): SigningKeyRow {
  const key = rows.find((row) => row.kid === kid)
  if (!key) throw problem('not_found')
  return key
}

/** The key that an app was created with, as a row. */
const firstKey = (app: AppRow): SigningKeyRow => ({
  kid: app.signing_kid,
  owner_id: app.owner_id,
  app_id: app.id,
  number: 1,
  public_key: app.signing_public,
  sealed: app.signing_sealed,
  status: 'current',
  created_at: app.created_at,
})

const toSigningKey = ({ kid, public_key, status, created_at }: SigningKeyRow): SigningKey => ({
  ...toJwk(kid, public_key),
  status,
  createdAt: toIso(created_at),
})
