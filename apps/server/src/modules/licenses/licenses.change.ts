import type { BodyOf, endpoints, License, UndoRow } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { linkedCustomer } from '../customers/customers.access.ts'
import { toUndo } from '../entitlements/extensions.ts'
import { endNow, returnKeys, withdrawKeys } from '../entitlements/grants.changes.ts'
import { changeAccess, changeHolders, type Holder, lockHolders, sourceOf } from '../entitlements/grants.ts'
import { updateLicenses } from '../entitlements/license-rows.ts'
import { getTypeOf } from '../license-types/license-types.access.ts'
import { queueWithout } from './licenses.mail.ts'
import * as repo from './licenses.repo.ts'
import { toLicense, toReadable } from './licenses.rules.ts'
import { changeType, isTyped, previewType, takenBy } from './licenses.type.ts'

export type LicenseChanges = Pick<LicenseEdit, 'expiresAt' | 'devices' | 'features' | 'note'>

type Details = Omit<LicenseChanges, 'expiresAt'>

/** The values that the caller saw. */
type Seen = NonNullable<LicenseEdit['seen']>

type LicenseEdit = BodyOf<typeof endpoints.licenses.update>

/** What an edit names, locked before the license. */
interface Named {
  type: LicenseTypeRow | undefined
  customerId: string | null | undefined
}

export async function updateLicense(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { type, end = 'later', dryRun, expiresAt, seen, customer, ...details }: LicenseEdit,
): Promise<{ license: License; undo: UndoRow[] }> {
  if (type !== undefined && dryRun) {
    return { license: await previewType(ctx, actor, id, type, end), undo: [] }
  }
  const { license, result } = await change(
    ctx,
    actor,
    id,
    async (write, held, { type: typeRow, customerId }) => {
      const { license, holder } = held
      const taken = typeRow && (await takenBy(write.tx, actor, holder, typeRow, { end, now: write.now }))
      // A caller that got no response sends the same edit again.
      const isDone = taken !== undefined && isTyped(taken)
      if (seen && !isDone) checkSeen(held, seen, { expiresAt, type, ...details }, write.now)
      if (taken && !isDone) await changeType(write, actor, taken)
      const undo = expiresAt === undefined ? [] : await changeEnds(write, [holder], toEndMs(expiresAt))
      await changeDetails(write, actor, license, { ...details, customer: customerId })
      return undo
    },
    { type, customer },
  )
  return { license, undo: result }
}

/** Rejects the edit if a value that the caller saw has changed since. */
function checkSeen({ license, holder }: Held, seen: Seen, wanted: Seen, at: number): void {
  const { devices, features, note, type_id: type } = license
  const details = ({ devices, features, note, type }: Details & Pick<Seen, 'type'>) => ({
    devices,
    features,
    note: note === undefined ? undefined : note || null,
    type,
  })
  const now = { devices, features: JSON.parse(features), note, type }
  if (hasChanged(now, details(seen), details(wanted))) throw problem('license_changed')
  if (hasNewEnd(holder, seen, wanted.expiresAt, at)) throw problem('license_changed')
}

/** Whether the end has changed since the caller saw it. An end that equals the edit counts as unchanged. */
function hasNewEnd(
  { access, license, client }: Holder,
  { expiresAt, term }: Seen,
  wanted: string | null | undefined,
  now: number,
): boolean {
  const current = displayedEnd(access, now)
  const currentTerm = license?.term
  const isWanted = (end: number | null) =>
    end === current || (end !== null && current !== null && Math.max(end, current) <= now)
  if (wanted !== undefined && currentTerm !== 'first_use' && isWanted(toEndMs(wanted))) return false
  if (term !== undefined && term !== currentTerm) return true
  if (expiresAt === undefined) return false
  const end = toEndMs(expiresAt)
  if (end === current) return false
  // The end of a paused license moves with the clock: the caller saw an earlier one.
  const earliest = client ? displayedEnd(client, client.paused_at ?? 0) : current
  return end === null || current === null || earliest === null || end < earliest || end > current
}

const toEndMs = (expiresAt: string | null): number | null =>
  expiresAt === null ? null : toEpochMs(expiresAt)

/** Sets the end of locked licenses, and returns what takes that back. A past end means that access ends now; null is never. */
export async function changeEnds(
  write: WriteTransaction,
  holders: readonly Holder[],
  end: number | null,
  source = sourceOf(write.actor),
): Promise<UndoRow[]> {
  const { now } = write
  const changes = await changeHolders(write, holders, (holder) => ({
    added: [endNow(holder, end, now, source)],
  }))
  for (const { before, after } of changes) {
    const change = { before: displayedEnd(before.access, now), after: displayedEnd(after.access, now) }
    write.record('license.expiry_changed', after.id, change, after.license?.app_id ?? null)
  }
  return changes.flatMap((one) => toUndo('licenses', one, now))
}

async function changeDetails(
  write: WriteTransaction,
  actor: VendorActor,
  license: LicenseRow,
  changes: Details & { customer?: string | null | undefined },
): Promise<void> {
  const { devices, features, customer } = changes
  const note = changes.note === undefined ? undefined : changes.note || null
  if ([devices, features, note, customer].every((value) => value === undefined)) return
  await updateLicenses(write.tx, actor, [license.id], {
    ...(devices !== undefined && { devices }),
    ...(features !== undefined && { features: JSON.stringify(features) }),
    ...(note !== undefined && { note }),
    ...(customer !== undefined && { customer_id: customer }),
  })
  if (customer !== undefined && customer !== license.customer_id) await queueWithout(write, license.id)
  if (license.client_id !== null) await changeAccess(write, actor, { clients: [license.client_id] })
  const change = {
    before: {
      ...(devices !== undefined && { devices: license.devices }),
      ...(features !== undefined && { features: JSON.parse(license.features) }),
      ...(note !== undefined && { note: license.note }),
      ...(customer !== undefined && { customer: license.customer_id }),
    },
    after: {
      ...(devices !== undefined && { devices }),
      ...(features !== undefined && { features }),
      ...(note !== undefined && { note }),
      ...(customer !== undefined && { customer }),
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
  const { license } = await change(ctx, actor, id, async (write, { license }) => {
    const next = ban.is_banned ?? license.banned === 0
    // Support lifts what a person has set.
    const isTheirs = !next && !(await repo.isBannedByOrder(write.tx, id))
    if (!isTheirs && !actor.permissions.has('licenses:write')) throw problem('permission_missing')
    const reason = (next && ban.reason) || null
    await changeBans(write, actor, [license], next, reason)
    if (next) write.record('license.banned', id, { reason }, license.app_id)
    else write.record('license.unbanned', id, {}, license.app_id)
  })
  return toReadable(actor, license)
}

/** Bans or unbans locked licenses; the ban of an added key takes back what it added. */
export async function changeBans(
  write: WriteTransaction,
  scope: OwnerScope,
  keys: readonly LicenseRow[],
  banned: boolean,
  reason: string | null,
): Promise<void> {
  const ids = keys.map((key) => key.id)
  const ban = { banned: banned ? 1 : 0, ban_reason: banned ? reason : null } as const
  await updateLicenses(write.tx, scope, ids, ban)
  await (banned ? withdrawKeys(write, scope, keys) : returnKeys(write, scope, keys))
}

/** A locked license, with what was granted to it. */
interface Held {
  license: LicenseRow
  holder: Holder
}

/** Changes a locked license; returns it with the result of `apply`. */
async function change<Result>(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  apply: (write: WriteTransaction, held: Held, named: Named) => Promise<Result>,
  named: Pick<LicenseEdit, 'type' | 'customer'> = {},
): Promise<{ license: License; result: Result }> {
  const { row, result } = await ctx.tx(actor, async (write) => {
    const found = await lockNamed(write, actor, id, named)
    const [holder] = await lockHolders(write.tx, actor, { licenses: [id] })
    if (!holder?.license) throw problem('not_found')
    const result = await apply(write, { license: holder.license, holder }, found)
    const row = await repo.findLicense(write.tx, actor, id)
    if (!row) throw problem('not_found')
    return { row, result }
  })
  return { license: toLicense(ctx, row, ctx.clock.now()), result }
}

/** Locks what an edit names. The type comes before licenses: its deletion locks them in this order. */
async function lockNamed(
  write: WriteTransaction,
  actor: VendorActor,
  id: string,
  { type, customer }: Pick<LicenseEdit, 'type' | 'customer'>,
): Promise<Named> {
  if (!customer && type === undefined) return { type, customerId: customer }
  const license = await repo.findLicense(write.tx, actor, id)
  if (!license) throw problem('not_found')
  const customerId = await linkedCustomer(write, actor, customer, license.app_id)
  const row = type === undefined ? type : await getTypeOf(write.tx, actor, license.app_id, type)
  return { type: row, customerId }
}
