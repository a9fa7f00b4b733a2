import { type LicenseType, limits } from '@keyward/contract'
import type { OwnerScope, ResellerActor, VendorActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import { inSlices, type WriteTransaction } from '../../db/index.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockApp } from '../apps/apps.access.ts'
import { getApp } from '../apps/apps.service.ts'
import { applyType, listLicenseSlice } from './license-types.apply.ts'
import * as repo from './license-types.repo.ts'
import { type TypeFields, toColumns, toFields, toLicenseType } from './license-types.rules.ts'

export async function listLicenseTypes(ctx: Ctx, scope: OwnerScope, app: string): Promise<LicenseType[]> {
  const { id } = await getApp(ctx.db, scope, app)
  return (await repo.listTypes(ctx.db, id)).map(toLicenseType)
}

/** The types with the number of their licenses. */
export async function listCountedTypes(ctx: Ctx, scope: OwnerScope, app: string) {
  const { id } = await getApp(ctx.db, scope, app)
  const types = await repo.listTypes(ctx.db, id)
  const counts = await repo.countLicenses(ctx.database.lists, id)
  return types.map((type) => ({ ...toLicenseType(type), licenses: counts.get(type.id) ?? 0 }))
}

/** The types that the reseller's app lets resellers sell. */
export async function listResellableTypes(ctx: Ctx, { appId }: ResellerActor): Promise<LicenseType[]> {
  const types = await repo.listTypes(ctx.db, appId)
  return types.filter((type) => type.resellable === 1).map(toLicenseType)
}

export async function createLicenseType(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  fields: TypeFields,
): Promise<LicenseType> {
  return ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      const { id: appId } = await getApp(tx, actor, app)
      // Lock the app, so that the count below holds until the commit.
      if (!(await lockApp(tx, actor, appId))) throw problem('not_found')
      const type = {
        id: newId('lty'),
        owner_id: actor.ownerId,
        app_id: appId,
        ...toColumns(fields),
        created_at: now,
      }
      await repo.insertType(tx, type)
      if ((await repo.countTypes(tx, appId)) > limits.licenseTypesMax) throw problem('license_types_full')
      write.record('license_type.created', type.id, { appId, name: type.name }, appId)
      return toLicenseType({ ...type, seq: 0 })
    },
    { onTaken: nameTaken },
  )
}

type Changes = { [Name in keyof TypeFields]?: TypeFields[Name] | undefined }

/** Changes a type; with `all` also the terms of its existing licenses, slice by slice. */
export async function updateLicenseType(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  changes: Changes,
  { applyTo, seen }: { applyTo: 'new' | 'all'; seen?: Changes | undefined },
): Promise<{ licenseType: LicenseType; changedLicenses: number }> {
  const changedFields = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<TypeFields>
  const { type, lastSeq } = await ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      const found = await repo.lockType(tx, actor, id)
      if (!found) throw problem('not_found')
      const before = toFields(found)
      if (seen && hasChanged({ ...before }, seen, changedFields)) throw problem('license_type_changed')
      const columns = toColumns({ ...before, ...changedFields })
      await repo.updateType(tx, actor, id, columns)
      const change = { before: only(before, changedFields), after: changedFields, applyTo }
      write.record('license_type.updated', id, change, found.app_id)
      return { type: { ...found, ...columns }, lastSeq: await repo.lastLicenseSeq(tx, id) }
    },
    { onTaken: nameTaken },
  )
  const changedLicenses = applyTo === 'all' ? await applyToLicenses(ctx, actor, type, lastSeq) : 0
  return { licenseType: toLicenseType(type), changedLicenses }
}

/** Changes the licenses that existed when the type changed; records slices and end. */
async function applyToLicenses(
  ctx: Ctx,
  actor: VendorActor,
  type: LicenseTypeRow,
  lastSeq: number,
): Promise<number> {
  const changed = await inSlices(
    ctx,
    actor,
    async (write, size, after = 0) => {
      const slice = await listLicenseSlice(write.tx, actor, type.id, { after, lastSeq, size })
      const count = await applyType(write, actor, type, slice)
      return { found: slice.length, changed: count, mark: slice.at(-1)?.seq ?? after }
    },
    (write, count) => write.record('license_type.slice_applied', type.id, { count }, type.app_id),
  )
  const finish = async (write: WriteTransaction) =>
    write.record('license_type.applied', type.id, { count: changed }, type.app_id)
  await ctx.tx(actor, finish, { isPatient: true })
  return changed
}

export async function deleteLicenseType(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const deleted = await repo.deleteType(write.tx, actor, id)
    if (!deleted) throw problem('not_found')
    const { app_id: appId, name } = deleted
    write.record('license_type.deleted', id, { appId, name }, appId)
  })
}

const only = (fields: TypeFields, changedFields: Partial<TypeFields>) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name in changedFields)) as Partial<TypeFields>

const nameTaken = () => problem('type_name_taken')
