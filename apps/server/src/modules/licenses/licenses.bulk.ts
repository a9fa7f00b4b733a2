import type { BulkLicenseAction, License, UndoRow } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { byBan, divide, type Skipped, toBanChange } from '../../core/undo.ts'
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

export interface Applied {
  changed: number
  undo: UndoRow[]
}

async function apply(
  write: WriteTransaction,
  actor: VendorActor,
  { action, ids, reason, ...extension }: BulkChange<BulkLicenseAction>,
  locked: readonly LicenseRow[],
): Promise<Applied> {
  switch (action) {
    case 'extend': {
      const { changed, undo } = await extendAll(write, actor, { noun: 'licenses', ids, extension })
      recordExtension(write, 'licenses', locked, extension, changed)
      return { changed: changed.length, undo }
    }
    case 'ban':
    case 'unban': {
      const after = { banned: action === 'ban', reason: reason || null }
      const changing = locked.filter((license) => (license.banned === 1) !== after.banned)
      if (changing.length > 0) await changeBans(write, actor, changing, after.banned, after.reason)
      recordBans(write, 'licenses', after, locked, idsOf(changing))
      return { changed: changing.length, undo: changing.map((license) => toBanChange(license, after)) }
    }
    case 'delete':
      await deleteAndExpireUsers(write, actor, ids)
      write.recordByApp('licenses.deleted', locked, (ids) => ({ ids }), { also: endUsersOf(locked) })
      return { changed: ids.length, undo: [] }
  }
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
      const { ends, bans, skipped } = divide(undo, views, undone)
      const rowsOf = (some: Iterable<string>) => [...some].flatMap((id) => locked.get(id) ?? [])
      await undoAll(write, actor, 'licenses', ends, rowsOf(ends.keys()))
      for (const { ids, banned, reason } of byBan(bans)) {
        const rows = rowsOf(ids)
        await changeBans(write, actor, rows, banned, reason)
        recordBans(write, 'licenses', { banned, reason }, rows)
      }
      const rows = await repo.listById(tx, actor, ids)
      const licenses = rows.map((row) => toLicense(ctx, row, write.now))
      return { changed: ends.size + bans.size, licenses, skipped }
    },
    { rows: ids.length, isPatient: true },
  )
}

const endUsersOf = (rows: readonly LicenseRow[]) =>
  rows.flatMap(({ client_id, app_id }) => (client_id === null ? [] : [{ id: client_id, app_id }]))

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
