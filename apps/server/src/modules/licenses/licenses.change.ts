import type { License, LicenseTerm } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { toShownEnd, toStoredEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { storeAddedRights } from '../entitlements/added-rights.ts'
import { giveBack, takeBack } from '../entitlements/added-time.ts'
import { setLicenseEnd } from '../entitlements/entitlements.service.ts'
import { lockWithUsersLicenses } from '../entitlements/license-locks.ts'
import { setBanned, updateDetails } from '../entitlements/license-rows.ts'
import { endOf, movePauses } from '../entitlements/pauses.ts'
import { usersOf } from './licenses.access.ts'
import * as repo from './licenses.repo.ts'
import { toLicense } from './licenses.view.ts'

export interface LicenseChanges {
  expiresAt?: string | null | undefined
  devices?: number | undefined
  features?: string[] | undefined
  note?: string | null | undefined
}

type Details = Omit<LicenseChanges, 'expiresAt'>

/** The values that the caller saw. */
type Seen = LicenseChanges & { term?: LicenseTerm | undefined }

export const updateLicense = (
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { expiresAt, seen, ...details }: LicenseChanges & { seen?: Seen | undefined },
): Promise<License> =>
  change(ctx, actor, id, async (write, license) => {
    if (seen) await checkSeen(write, actor, license, seen, { expiresAt, ...details })
    if (expiresAt !== undefined) await changeEnd(write, actor, license, expiresAt)
    await changeDetails(write, actor, license, details)
  })

/** Rejects the edit if a value that the caller saw has changed since. */
async function checkSeen(
  write: WriteTransaction,
  actor: VendorActor,
  license: LicenseRow,
  seen: Seen,
  wanted: LicenseChanges,
): Promise<void> {
  const { devices, features, note } = license
  const details = ({ devices, features, note }: Details) => ({
    devices,
    features,
    note: note === undefined ? undefined : note || null,
  })
  const now = { devices, features: JSON.parse(features), note }
  if (hasChanged(now, details(seen), details(wanted))) throw problem('license_changed')
  if (seen.expiresAt === undefined && seen.term === undefined) return
  const view = await repo.findLicense(write.tx, actor, license.id)
  if (!view) throw problem('not_found')
  if (hasNewEnd(view, seen, wanted.expiresAt, write.now)) throw problem('license_changed')
}

/** Whether the end has changed since the caller saw it. An end that equals the edit counts as unchanged. */
function hasNewEnd(
  view: repo.LicenseView,
  { expiresAt, term }: Seen,
  wanted: string | null | undefined,
  now: number,
): boolean {
  const current = toShownEnd({ ...view, expires_at: endOf(view, now) })
  const isWanted = (end: number | null) =>
    end === current || (end !== null && current !== null && Math.max(end, current) <= now)
  if (wanted !== undefined && view.term !== 'first_use' && isWanted(toEndMs(wanted))) return false
  if (term !== undefined && term !== view.term) return true
  if (expiresAt === undefined) return false
  const end = toEndMs(expiresAt)
  if (end === current) return false
  // The end of a paused license moves with the clock: the caller saw an earlier one.
  const stored = toShownEnd(view)
  return end === null || current === null || stored === null || end < stored || end > current
}

const toEndMs = (expiresAt: string | null): number | null =>
  expiresAt === null ? null : toEpochMs(expiresAt)

/** A past end is accepted: access ends now. Null: the license never expires. */
async function changeEnd(
  write: WriteTransaction,
  actor: VendorActor,
  license: LicenseRow,
  expiresAt: string | null,
): Promise<void> {
  const end = toEndMs(expiresAt)
  const after = Math.max(toStoredEnd(end, license.grace_days), write.now)
  await movePauses(write.tx, actor, usersOf([license]), write.now)
  await setLicenseEnd(write.tx, actor, license.id, after)
  const change = { before: toShownEnd(license), after: toShownEnd({ ...license, expires_at: after }) }
  write.record('license.expiry_changed', license.id, change, license.app_id)
}

async function changeDetails(
  write: WriteTransaction,
  actor: VendorActor,
  license: LicenseRow,
  changes: Omit<LicenseChanges, 'expiresAt'>,
): Promise<void> {
  const { devices, features } = changes
  const note = changes.note === undefined ? undefined : changes.note || null
  if ([devices, features, note].every((value) => value === undefined)) return
  await updateDetails(write.tx, actor, license.id, {
    ...(devices !== undefined && { devices }),
    ...(features !== undefined && { features: JSON.stringify(features) }),
    ...(note !== undefined && { note }),
  })
  await storeAddedRights(write.tx, actor, usersOf([license]))
  const change = {
    before: {
      ...(devices !== undefined && { devices: license.devices }),
      ...(features !== undefined && { features: JSON.parse(license.features) }),
      ...(note !== undefined && { note: license.note }),
    },
    after: {
      ...(devices !== undefined && { devices }),
      ...(features !== undefined && { features }),
      ...(note !== undefined && { note }),
    },
  }
  write.record('license.updated', license.id, change, license.app_id)
}

export async function toggleBan(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  ban: { is_banned?: boolean | undefined; reason?: string | undefined },
): Promise<License> {
  return change(ctx, actor, id, async (write, license) => {
    const next = ban.is_banned ?? license.banned === 0
    const reason = (next && ban.reason) || null
    await changeBans(write, actor, [license], next, reason)
    if (next) write.record('license.banned', id, { reason }, license.app_id)
    else write.record('license.unbanned', id, {}, license.app_id)
  })
}

/** Bans or unbans locked licenses; the ban of an added key takes back what it added. */
export async function changeBans(
  { tx, now }: WriteTransaction,
  scope: OwnerScope,
  keys: readonly LicenseRow[],
  banned: boolean,
  reason?: string | null,
): Promise<void> {
  const ids = keys.map((key) => key.id)
  await setBanned(tx, scope, ids, banned ? 1 : 0, reason)
  await movePauses(tx, scope, usersOf(keys), now)
  await (banned ? takeBack(tx, scope, keys, now) : giveBack(tx, scope, keys))
  await storeAddedRights(tx, scope, [...new Set(usersOf(keys))])
}

async function change(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  apply: (write: WriteTransaction, license: LicenseRow) => Promise<void>,
): Promise<License> {
  const row = await ctx.tx(actor, async (write) => {
    await lockWithUsersLicenses(write.tx, actor, [id])
    const [license] = await repo.lockLicenses(write.tx, actor, [id])
    if (!license) throw problem('not_found')
    await apply(write, license)
    return repo.findLicense(write.tx, actor, id)
  })
  if (!row) throw problem('not_found')
  return toLicense(row, ctx.clock.now())
}
