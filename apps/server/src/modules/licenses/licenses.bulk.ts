import type { BulkLicenseAction, License, UndoRow } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { type Ban, type Bannable, byBan, divide, type Skipped, toBanChange } from '../../core/undo.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { LicenseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import {
  type Extension,
  extendAll,
  findUndone,
  recordBans,
  recordExtension,
  undoAll,
} from '../entitlements/extensions.ts'
import { lockLicensesOf } from '../entitlements/license-rows.ts'
import { changeBans } from './licenses.change.ts'
import * as repo from './licenses.repo.ts'
import { toLicense } from './licenses.rules.ts'
import { deleteAndExpireUsers } from './licenses.service.ts'

export interface BulkChange<Action> extends Extension {
  action: Action
  ids: readonly string[]
  /** The reason of a ban. */
  reason?: string | undefined
}

/**
 * Changes or deletes all or none; 404 if one is missing. Returns the remaining ones. Adding time leaves out what never
 * expires or was not started.
 */
export async function changeLicenses(
  ctx: Ctx,
  actor: VendorActor,
  change: BulkChange<BulkLicenseAction>,
): Promise<{ changed: number; licenses: License[]; undo: UndoRow[] }> {
  const ids = [...new Set(change.ids)].sort()
  return ctx.tx(
    actor,
    async (write) => {
      await lockLicensesOf(write.tx, actor, { licenses: ids })
      const locked = await repo.lockLicenses(write.tx, actor, ids)
      if (locked.length < ids.length) throw problem('not_found')
      const { changed, undo } = await apply(write, actor, { ...change, ids }, locked)
      const rows = await repo.listById(write.tx, actor, ids)
      const licenses = rows.map((row) => toLicense(ctx, row, write.now))
      return { changed, licenses, undo }
    },
    { rows: ids.length, isPatient: true },
  )
}

async function apply(
  write: WriteTransaction,
  actor: VendorActor,
  { action, ...change }: BulkChange<BulkLicenseAction>,
  locked: readonly LicenseRow[],
): Promise<Applied> {
  if (action !== 'delete') return changeRows(write, actor, ofLicenses, { action, ...change }, locked)
  await deleteAndExpireUsers(write, actor, change.ids)
  write.recordByApp('licenses.deleted', locked, (ids) => ({ ids }), { also: endUsersOf(locked) })
  return { changed: change.ids.length, undo: [] }
}

const ofLicenses: Kind<LicenseRow> = {
  noun: 'licenses',
  setBans: (write, actor, rows, { banned, reason }) => changeBans(write, actor, rows, banned, reason),
}

/** Takes back a bulk change of each license that is as the change left it; the others are skipped. 404 if all are missing. */
export async function undoLicenses(
  ctx: Ctx,
  actor: VendorActor,
  undo: readonly UndoRow[],
): Promise<{ changed: number; licenses: License[]; skipped: Skipped[] }> {
  const ids = [...new Set(undo.map(({ _id }) => _id))].sort()
  return ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      await lockLicensesOf(tx, actor, { licenses: ids })
      const locked = new Map((await repo.lockLicenses(tx, actor, ids)).map((row) => [row.id, row]))
      const views = new Map((await repo.listById(tx, actor, ids)).map((row) => [row.id, row]))
      if (views.size === 0) throw problem('not_found')
      const undone = await findUndone(write, actor, 'licenses', undo)
      const { skipped, ...same } = divide(undo, views, undone)
      const changed = await undoRows(write, actor, ofLicenses, same, locked)
      const rows = await repo.listById(tx, actor, ids)
      const licenses = rows.map((row) => toLicense(ctx, row, write.now))
      return { changed, licenses, skipped }
    },
    { rows: ids.length, isPatient: true },
  )
}

const endUsersOf = (rows: readonly LicenseRow[]) =>
  rows.flatMap(({ client_id, app_id }) => (client_id === null ? [] : [{ id: client_id, app_id }]))

export interface Applied {
  changed: number
  undo: UndoRow[]
}

type Row = Bannable & { app_id: string }

/** What differs between bulk changes of licenses and of end users. */
export interface Kind<Changed extends Row> {
  noun: 'licenses' | 'clients'
  setBans(write: WriteTransaction, actor: VendorActor, rows: readonly Changed[], after: Ban): Promise<void>
}

/** Extends rows that the transaction has locked, bans them or lifts their bans. */
export async function changeRows<Changed extends Row>(
  write: WriteTransaction,
  actor: VendorActor,
  { noun, setBans }: Kind<Changed>,
  { action, ids, reason, ...extension }: BulkChange<'extend' | 'ban' | 'unban'>,
  locked: readonly Changed[],
): Promise<Applied> {
  if (action === 'extend') {
    const { changed, undo } = await extendAll(write, actor, { noun, ids, extension })
    recordExtension(write, noun, locked, extension, changed)
    return { changed: changed.length, undo }
  }
  const after = { banned: action === 'ban', reason: reason || null }
  const changing = locked.filter((row) => (row.banned === 1) !== after.banned)
  const changed = changing.map(({ id }) => id)
  if (changed.length > 0) await setBans(write, actor, changing, after)
  recordBans(write, noun, after, locked, changed)
  return { changed: changed.length, undo: changing.map((row) => toBanChange(row, after)) }
}

/** Takes back the changes of rows that are as the changes left them; returns how many. */
export async function undoRows<Changed extends Row>(
  write: WriteTransaction,
  actor: VendorActor,
  { noun, setBans }: Kind<Changed>,
  { ends, bans }: { ends: ReadonlyMap<string, { grant: string }>; bans: ReadonlyMap<string, Ban> },
  locked: ReadonlyMap<string, Changed>,
): Promise<number> {
  const rowsOf = (ids: Iterable<string>) => [...ids].flatMap((id) => locked.get(id) ?? [])
  await undoAll(write, actor, noun, ends, rowsOf(ends.keys()))
  for (const { ids, ...after } of byBan(bans)) {
    const rows = rowsOf(ids)
    await setBans(write, actor, rows, after)
    recordBans(write, noun, after, rows)
  }
  return ends.size + bans.size
}
