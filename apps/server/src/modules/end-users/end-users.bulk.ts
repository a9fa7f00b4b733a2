import type { BulkClientAction, Client, UndoRow } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { divide, type Skipped } from '../../core/undo.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { Ctx } from '../../service/ctx.ts'
import { freeAllDevices } from '../devices/devices.access.ts'
import { freeLeasedSeats } from '../devices/leased-places.access.ts'
import { updateEndUsers } from '../entitlements/end-user-rows.ts'
import { freeLicensesOf } from '../entitlements/entitlements.service.ts'
import { findUndone } from '../entitlements/extensions.ts'
import { lockLicensesOf } from '../entitlements/license-rows.ts'
import { type Applied, type BulkChange, changeRows, type Kind, undoRows } from '../licenses/licenses.bulk.ts'
import { getLimits } from '../owners/owners.service.ts'
import { endProgramSessionsOf } from '../sessions/program-sessions.access.ts'
import { reserveExtension } from './end-users.limit.ts'
import * as repo from './end-users.repo.ts'
import { toEndUser } from './end-users.service.ts'

/**
 * Changes or deletes all or none; 404 if one is missing. Returns the remaining ones. Adding time leaves out those that
 * never expire.
 */
export async function changeEndUsers(
  ctx: Ctx,
  actor: VendorActor,
  change: BulkChange<BulkClientAction>,
): Promise<{ changed: number; clients: Client[]; undo: UndoRow[] }> {
  const ids = [...new Set(change.ids)].sort()
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  return ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      const found = await repo.listById(tx, actor, ids)
      if (found.length < ids.length) throw problem('not_found')
      // Lock licenses before end users, as everywhere; end users deleted meanwhile are then missing below.
      await lockLicensesOf(tx, actor, { clients: ids })
      if ((await repo.lockEndUsers(tx, actor, ids)) < ids.length) throw problem('not_found')
      if (change.action === 'extend') await reserveExtension(tx, actor, ids, maxLicensesPerApp, now)
      // What was found before the locks may have changed meanwhile.
      const locked = await repo.listById(tx, actor, ids)
      const { changed, undo } = await apply(write, actor, { ...change, ids }, locked)
      const rows = await repo.listById(tx, actor, ids)
      const clients = rows.map((row) => toEndUser(row, now))
      return { changed, clients, undo }
    },
    { rows: ids.length, isPatient: true },
  )
}

async function apply(
  write: WriteTransaction,
  actor: VendorActor,
  { action, ...change }: BulkChange<BulkClientAction>,
  found: readonly repo.EndUserView[],
): Promise<Applied> {
  const { tx, now } = write
  const { ids } = change
  switch (action) {
    case 'reset-hwid':
      await freeLeasedSeats(tx, actor, ids)
      await freeAllDevices(tx, actor, ids)
      write.recordByApp('end_users.hwid_reset', found, (ids) => ({ ids }))
      return { changed: ids.length, undo: [] }
    case 'delete': {
      await freeLeasedSeats(tx, actor, ids)
      const freed = await freeLicensesOf(write, actor, ids)
      await endProgramSessionsOf(tx, ids)
      await repo.deleteEndUsers(tx, actor, ids, now)
      write.recordByApp('end_users.deleted', found, (ids) => ({ ids }), { also: freed })
      return { changed: ids.length, undo: [] }
    }
    default:
      return changeRows(write, actor, ofEndUsers, { action, ...change }, found)
  }
}

const ofEndUsers: Kind<repo.EndUserView> = {
  noun: 'clients',
  setBans: ({ tx }, actor, users, { banned, reason }) => {
    const ids = users.map(({ id }) => id)
    return updateEndUsers(tx, actor, ids, { banned: banned ? 1 : 0, ban_reason: reason })
  },
}

/** Takes back a bulk change of each end user that is as the change left it; the others are skipped. 404 if all are missing. */
export async function undoEndUsers(
  ctx: Ctx,
  actor: VendorActor,
  undo: readonly UndoRow[],
): Promise<{ changed: number; clients: Client[]; skipped: Skipped[] }> {
  const ids = [...new Set(undo.map(({ _id }) => _id))].sort()
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  return ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      await lockLicensesOf(tx, actor, { clients: ids })
      await repo.lockEndUsers(tx, actor, ids)
      const found = new Map((await repo.listById(tx, actor, ids)).map((row) => [row.id, row]))
      if (found.size === 0) throw problem('not_found')
      const undone = await findUndone(write, actor, 'clients', undo)
      const { ends, bans, skipped } = divide(undo, found, undone)
      const isLonger = ([id, { end }]: [string, { end: number | null }]) => {
        const row = found.get(id)
        const current = row && displayedEnd(row, now)
        return current != null && (end === null || end > current)
      }
      const longer = [...ends].filter(isLonger)
      if (longer.length > 0) {
        const longerIds = longer.map(([id]) => id)
        await reserveExtension(tx, actor, longerIds, maxLicensesPerApp, now)
      }
      const changed = await undoRows(write, actor, ofEndUsers, { ends, bans }, found)
      const rows = await repo.listById(tx, actor, ids)
      return { changed, clients: rows.map((row) => toEndUser(row, now)), skipped }
    },
    { rows: ids.length, isPatient: true },
  )
}
