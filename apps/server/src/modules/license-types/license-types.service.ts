import { type LicenseType, limits, type PortalLicenseType } from '@keyward/contract'
import type { OwnerScope, ResellerActor, VendorActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { invalid, problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import { inSlices, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp, lockApp, noteTypeLinks } from '../apps/apps.access.ts'
import { applyType, listLicenseSlice } from './license-types.apply.ts'
import * as repo from './license-types.repo.ts'
import {
  hasLinks,
  type TypeFields,
  toColumns,
  toFields,
  toLicenseType,
  toOffer,
  upgradesOf,
} from './license-types.rules.ts'

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
export async function listResellableTypes(ctx: Ctx, { appId }: ResellerActor): Promise<PortalLicenseType[]> {
  const types = await repo.listTypes(ctx.db, appId)
  return types.filter((type) => type.resellable === 1).map((type) => ({ _id: type.id, ...toOffer(type) }))
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
      await checkLinks(tx, actor, type)
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
      const changesLinks = linkFields.some((name) => name in changedFields)
      if (changesLinks) await lockAppOfType(tx, actor, id)
      const found = await repo.lockType(tx, actor, id)
      if (!found) throw problem('not_found')
      const before = toFields(found)
      if (seen && hasChanged({ ...before }, seen, changedFields)) throw problem('license_type_changed')
      const columns = toColumns({ ...before, ...changedFields })
      await repo.updateType(tx, actor, id, columns)
      if (changesLinks) await checkLinks(tx, actor, { ...found, ...columns })
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
    const { tx } = write
    await lockAppOfType(tx, actor, id)
    const deleted = await repo.deleteType(tx, actor, id)
    if (!deleted) throw problem('not_found')
    const { app_id: appId, name } = deleted
    write.record('license_type.deleted', id, { appId, name }, appId)
    await forgetUpgradesTo(write, actor, deleted)
  })
}

/** Takes a deleted type out of the upgrades of the app's other types. */
async function forgetUpgradesTo(write: WriteTransaction, actor: VendorActor, { id, app_id }: LicenseTypeRow) {
  const types = (await repo.listTypes(write.tx, app_id)).map((row) => ({ row, upgrades: upgradesOf(row) }))
  for (const { row, upgrades } of types) {
    const left = upgrades.filter(({ type }) => type !== id)
    if (left.length === upgrades.length) continue
    row.upgrades = JSON.stringify(left)
    await repo.updateUpgrades(write.tx, actor, row)
    const change = { before: { upgrades }, after: { upgrades: left }, applyTo: 'new' as const }
    write.record('license_type.updated', row.id, change, app_id)
  }
  await noteTypeLinks(
    write.tx,
    actor,
    app_id,
    types.some(({ row }) => hasLinks(toFields(row))),
  )
}

const linkFields = ['buyUrl', 'renewUrl', 'upgrades']

/** Locks the app, so that the types that others name as upgrades stay until the commit. */
async function lockAppOfType(tx: Tx, actor: VendorActor, id: string): Promise<void> {
  const type = await repo.findType(tx, actor, id)
  if (!type || !(await lockApp(tx, actor, type.app_id))) throw problem('not_found')
}

/** Checks the upgrades of a type whose app is locked, and notes whether the app has links. */
async function checkLinks(tx: Tx, actor: VendorActor, { id, app_id, upgrades }: repo.NewType): Promise<void> {
  const types = await repo.listTypes(tx, app_id)
  for (const [at, { type }] of upgradesOf({ upgrades }).entries()) {
    if (type === id) throw invalid(`upgrades.${at}.type`, 'A type is no upgrade of itself')
    if (!types.some((one) => one.id === type)) throw invalid(`upgrades.${at}.type`, 'License type not found')
  }
  await noteTypeLinks(
    tx,
    actor,
    app_id,
    types.some((type) => hasLinks(toFields(type))),
  )
}

const only = (fields: TypeFields, changedFields: Partial<TypeFields>) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name in changedFields)) as Partial<TypeFields>

const nameTaken = () => problem('type_name_taken')
