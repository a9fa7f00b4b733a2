import { createHash } from 'node:crypto'
import { imageOf, logoBytes, type Profile } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import type { ProfileRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp, lockApp } from '../apps/apps.access.ts'
import { lockOwner } from '../owners/owners.service.ts'
import * as repo from './profiles.access.ts'

/** The profile of the vendor, or of one of its apps. */
export async function getProfile({ db }: Ctx, scope: OwnerScope, app?: string): Promise<Profile> {
  return toProfile(await read(db, scope, app === undefined ? null : (await getApp(db, scope, app)).id))
}

type ProfileChange = { [Part in keyof Profile]?: Profile[Part] | undefined }

export function updateProfile(
  ctx: Ctx,
  actor: VendorActor,
  { name, support, logo }: ProfileChange,
  app?: string,
): Promise<Profile> {
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const appId = app === undefined ? null : (await getApp(tx, actor, app)).id
    if (appId === null) await lockOwner(tx, actor)
    else if (!(await lockApp(tx, actor, appId))) throw problem('not_found')
    const before = await read(tx, actor, appId)
    const after = {
      ...before,
      ...(name !== undefined && { name }),
      ...(support !== undefined && { support }),
      ...(logo !== undefined && toLogo(logo)),
    }
    await repo.saveProfile(tx, after)
    const record = { before: toRecord(before), after: toRecord(after) }
    if (appId === null) write.record('vendor.profile_changed', actor.ownerId, record)
    else write.record('app.profile_changed', appId, record, appId)
    return toProfile(after)
  })
}

async function read(db: Db, { ownerId }: OwnerScope, appId: string | null): Promise<ProfileRow> {
  const id = appId ?? ownerId
  const none = { name: null, support: null, ...toLogo(null) }
  return (await repo.findProfile(db, id)) ?? { id, owner_id: ownerId, app_id: appId, ...none }
}

const toRecord = ({ name, support, logo_digest: logo }: ProfileRow) => ({ name, support, logo })

const toProfile = ({ name, support, logo, logo_type }: ProfileRow): Profile => ({
  ...{ name, support },
  logo: logo === null ? null : `data:${logo_type};base64,${logo}`,
})

/** The contract has looked at the bytes. */
function toLogo(sent: string | null): Pick<ProfileRow, 'logo' | 'logo_type' | 'logo_digest'> {
  if (sent === null) return { logo: null, logo_type: null, logo_digest: null }
  const bytes = Buffer.from(logoBytes(sent), 'base64')
  return {
    logo: bytes.toString('base64'),
    logo_type: imageOf(bytes.toString('latin1'))?.type ?? null,
    logo_digest: createHash('sha256').update(bytes).digest('hex'),
  }
}
