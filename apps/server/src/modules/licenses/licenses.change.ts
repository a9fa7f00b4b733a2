import type { License } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import type { Write } from '../../core/record.ts'
import { toShownEnd, toStoredEnd } from '../../db/ends.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { giveBack, takeBack } from '../entitlements/added-time.ts'
import { setLicenseEnd } from '../entitlements/entitlements.service.ts'
import { lockWithUsersLicenses } from '../entitlements/license-locks.ts'
import { movePauses } from '../entitlements/pauses.ts'
import { usersOf } from './licenses.access.ts'
import * as repo from './licenses.repo.ts'
import { toLicense } from './licenses.view.ts'

export interface LicenseChanges {
  expiresAt?: string | null | undefined
  devices?: number | undefined
  features?: string[] | undefined
  note?: string | null | undefined
}

/** The values that the caller saw. */
type Seen = Omit<LicenseChanges, 'expiresAt'>

export const updateLicense = (
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { expiresAt, seen, ...details }: LicenseChanges & { seen?: Seen | undefined },
): Promise<License> =>
  change(ctx, actor, id, async (write, license) => {
    if (seen && hasChanged(license, seen, details)) throw problem('license_changed')
    if (expiresAt !== undefined) await changeEnd(write, actor, license, expiresAt)
    await changeDetails(write, actor, license, details)
  })

/** A value that already is as wanted did not change: a caller that got no response sends the same edit again. */
function hasChanged({ devices, features, note }: LicenseRow, seen: Seen, wanted: Seen): boolean {
  const names = ['devices', 'features', 'note'] as const
  const now: Seen = { devices, features: JSON.parse(features), note }
  const isAs = (values: Seen, name: keyof Seen) =>
    values[name] !== undefined && JSON.stringify(values[name] || null) === JSON.stringify(now[name])
  return names.some((name) => seen[name] !== undefined && !isAs(seen, name) && !isAs(wanted, name))
}

/** A past end is accepted: access ends now. Null: the license never expires. */
async function changeEnd(
  write: Write,
  actor: VendorActor,
  license: LicenseRow,
  expiresAt: string | null,
): Promise<void> {
  const end = expiresAt === null ? null : toEpochMs(expiresAt)
  const after = Math.max(toStoredEnd(end, license.grace_days), write.now)
  await movePauses(write.tx, actor, usersOf([license]), write.now)
  await setLicenseEnd(write.tx, actor, license.id, after)
  write.record('license.expiry_changed', license.id, {
    before: toShownEnd(license),
    after: toShownEnd({ ...license, expires_at: after }),
  })
}

async function changeDetails(
  write: Write,
  actor: VendorActor,
  license: LicenseRow,
  given: Omit<LicenseChanges, 'expiresAt'>,
): Promise<void> {
  const { devices, features } = given
  const note = given.note === undefined ? undefined : given.note || null
  if ([devices, features, note].every((value) => value === undefined)) return
  await repo.updateDetails(write.tx, actor, license.id, {
    ...(devices !== undefined && { devices }),
    ...(features !== undefined && { features: JSON.stringify(features) }),
    ...(note !== undefined && { note }),
  })
  write.record('license.updated', license.id, {
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
  })
}

export async function toggleBan(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  given: { is_banned?: boolean | undefined; reason?: string | undefined },
): Promise<License> {
  return change(ctx, actor, id, async (write, license) => {
    const next = given.is_banned ?? license.banned === 0
    const reason = (next && given.reason) || null
    await changeBans(write, actor, [license], next, reason)
    if (next) write.record('license.banned', id, { reason })
    else write.record('license.unbanned', id, {})
  })
}

/** Bans or unbans locked licenses; the ban of an added key takes back the time that it added. */
export async function changeBans(
  { tx, now }: Write,
  scope: OwnerScope,
  keys: readonly LicenseRow[],
  banned: boolean,
  reason?: string | null,
): Promise<void> {
  const ids = keys.map((key) => key.id)
  await repo.setBanned(tx, scope, ids, banned ? 1 : 0, reason)
  await movePauses(tx, scope, usersOf(keys), now)
  await (banned ? takeBack(tx, scope, keys, now) : giveBack(tx, scope, keys))
}

async function change(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  apply: (write: Write, license: LicenseRow) => Promise<void>,
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
