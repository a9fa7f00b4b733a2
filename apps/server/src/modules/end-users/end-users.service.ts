import {
  type BodyOf,
  type Client,
  type ClientStatus,
  type endpoints,
  type ListedClientStatus,
  limits,
} from '@keyward/contract'
import type { Actor, OwnerScope, ProgramActor, VendorActor } from '../../core/actor.ts'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
import { newId, normalizeName } from '../../core/ids.ts'
import { callerOf } from '../../core/networks/caller.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { invalid, problem } from '../../core/problem.ts'
import { inSlices, type Transactions, type WriteTransaction } from '../../db/index.ts'
import type { Counts, ListQuery, SortedPage } from '../../db/lists/list-filters.ts'
import { findIds, findPage } from '../../db/lists/lists.ts'
import { accessEnd, displayedEnd, never } from '../../db/stored-end.ts'
import type { ClientRow, DeviceRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp } from '../apps/apps.access.ts'
import { blockAll, type NormalizedBlock, normalize } from '../blocklist/blocklist.service.ts'
import { linkedCustomer } from '../customers/customers.access.ts'
import { namesByKey } from '../customers/names.access.ts'
import { freeAllDevices, listDevices } from '../devices/devices.access.ts'
import { isHashOnly, isPlaceholder, sentHash, toNamedMachine } from '../devices/devices.rules.ts'
import { addFirstDevice } from '../devices/devices.service.ts'
import { freeLeasedSeats } from '../devices/leased-places.access.ts'
import { insertEndUser, updateEndUser } from '../entitlements/end-user-rows.ts'
import { freeLicensesOf } from '../entitlements/entitlements.service.ts'
import { extendAll } from '../entitlements/extensions.ts'
import { pausedFrom } from '../entitlements/grants.changes.ts'
import { changeAccess, sourceOf } from '../entitlements/grants.ts'
import { lockLicensesOf } from '../entitlements/license-rows.ts'
import { endFields } from '../entitlements/terms.rules.ts'
import { readGranted } from '../licenses/licenses.grants.ts'
import { toListFilter } from '../licenses/licenses.origins.ts'
import { getLimits } from '../owners/owners.service.ts'
import { endProgramSessionsOf } from '../sessions/program-sessions.access.ts'
import { type LockedEndUser, lockEndUser } from './end-users.access.ts'
import { reserveDirect, reserveExtension } from './end-users.limit.ts'
import { endUserList } from './end-users.list.ts'
import { matchesOf } from './end-users.matches.ts'
import * as repo from './end-users.repo.ts'
import { clientStatus, toNewUsername } from './end-users.rules.ts'

export async function listEndUsers(ctx: Ctx, actor: VendorActor, query: ListQuery<ListedClientStatus>) {
  const now = ctx.clock.now()
  const filter = await toListFilter(ctx.db, actor, query, now)
  const { seqs, pagination, stats } = await findPage(ctx.database, endUserList, filter, query)
  const rows = await repo.listBySeq(ctx.db, actor, seqs, query.sort)
  const matches = await matchesOf(ctx.db, filter, query.search, rows)
  const names = await namesByKey(ctx.db, actor, rows)
  const clients = rows.map((row) => {
    const knownAs = names.get(row.id) ?? null
    return Object.assign(toEndUser(row, now), { knownAs }, matches(row))
  })
  return { clients, pagination, stats }
}

/** The ids of those that match the filters of a list, newest first. */
export async function matchEndUsers(
  ctx: Ctx,
  actor: VendorActor,
  query: Omit<ListQuery<ListedClientStatus>, keyof SortedPage>,
) {
  const filter = await toListFilter(ctx.db, actor, query, ctx.clock.now())
  return findIds(ctx.database, endUserList, filter, query.search)
}

export async function getEndUser(ctx: Ctx, scope: OwnerScope, id: string): Promise<Client> {
  const client = await repo.findEndUser(ctx.db, scope, id)
  if (!client) throw problem('not_found')
  return toEndUser(client, ctx.clock.now())
}

export async function getEndUserWithGrants(ctx: Ctx, scope: OwnerScope, id: string) {
  const row = await repo.findEndUser(ctx.db, scope, id)
  if (!row) throw problem('not_found')
  const now = ctx.clock.now()
  const names = await namesByKey(ctx.db, scope, [row])
  const granted = await readGranted(ctx.db, scope, { clients: [id] }, now)
  return {
    ...toEndUser(row, now),
    knownAs: names.get(id) ?? null,
    ...(granted ?? { grants: [], rights: [] }),
  }
}

/** Source of an export of end users. */
export const endUserSource = {
  list: endUserList,
  read: async (ctx: Ctx, scope: OwnerScope, seqs: readonly number[], now: number): Promise<Client[]> =>
    (await repo.listBySeq(ctx.db, scope, seqs, 'newest')).map((row) => toEndUser(row, now)),
}

/** Counts an owner's end users, or those of one app that the caller has checked to be the owner's. */
export const countEndUsers = (ctx: Ctx, scope: OwnerScope, appId?: string): Promise<Counts<ClientStatus>> =>
  endUserList.count(ctx.database, { scope, appId, now: ctx.clock.now() })

export type DirectEndUser = BodyOf<typeof endpoints.clients.createDirect>

/** Creates an end user without a license. */
export async function createDirect(ctx: Ctx, actor: VendorActor, endUser: DirectEndUser): Promise<Client> {
  const now = ctx.clock.now()
  const expiresAt = endUser.expiresAt === null ? never : toEpochMs(endUser.expiresAt)
  if (expiresAt <= now) throw invalid('expiresAt', 'The expiry must be in the future')
  const username = toNewUsername(endUser.username)
  checkPassword(ctx, 'password', endUser.password)
  const app = await getApp(ctx.db, actor, endUser.appId)
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  const passwordHash = await ctx.passwords.hash(endUser.password, callerOf(actor))
  const named = toNamedMachine(app.app_id, endUser.hwid ?? undefined)
  const machine = named && isPlaceholder(named) ? undefined : named
  const id = newId('usr')
  const row = await ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      await getApp(tx, actor, app.id)
      const customerId = await linkedCustomer(write, actor, endUser.customer, app.id)
      await reserveDirect(tx, actor, app.id, maxLicensesPerApp, now)
      const client = {
        id,
        owner_id: actor.ownerId,
        app_id: app.id,
        license_id: null,
        customer_id: customerId ?? null,
        username,
        username_normalized: normalizeName(username),
        email: null,
        password_hash: passwordHash,
        hwid: machine?.hwid ?? null,
        hwid_hash: machine?.hash ?? null,
        device_count: machine ? 1 : 0,
        expires_at: expiresAt,
        last_login_at: null,
        created_at: now,
      }
      await insertEndUser(tx, client)
      if (machine) await addFirstDevice(write, actor, client, machine, null)
      const end = displayedEnd({ expires_at: expiresAt, grace_days: 0 }, now)
      write.record('end_user.created', id, { expiresAt: end }, app.id)
      return repo.findEndUser(tx, actor, id)
    },
    { onTaken: usernameTaken },
  )
  if (!row) throw problem('internal')
  return toEndUser(row, now)
}

export type Ban = BodyOf<typeof endpoints.clients.toggleBan>

export const toggleBan = (ctx: Ctx, actor: VendorActor, id: string, ban: Ban): Promise<Client> =>
  changeEndUser(ctx, actor, id, async (write, client) => {
    const next = ban.is_banned ?? client.banned === 0
    const reason = (next && ban.reason) || null
    await updateEndUser(write.tx, actor, id, { banned: next ? 1 : 0, ban_reason: reason })
    if (next) write.record('end_user.banned', id, { reason }, client.app_id)
    else write.record('end_user.unbanned', id, {}, client.app_id)
    if (!next || !ban.blockDevices) return
    const devices = await listDevices(write.tx, id, limits.devicesMax)
    await blockAll(write, actor, client.app_id, blocksOf(client, devices, reason))
  })

/** The devices and the address of an end user, as entries of the block list. */
function blocksOf(
  { last_address }: Pick<ClientRow, 'last_address'>,
  devices: readonly Pick<DeviceRow, 'hwid' | 'hwid_hash'>[],
  reason: string | null,
): NormalizedBlock[] {
  const common = { reason: reason ?? undefined }
  return [
    ...devices.map(({ hwid, hwid_hash }) =>
      isHashOnly({ hwid, hash: sentHash(hwid_hash) })
        ? { kind: 'hwid' as const, value: hwid, value_key: sentHash(hwid_hash), reason }
        : normalize({ kind: 'hwid', value: hwid, ...common }),
    ),
    ...(last_address ? [normalize({ kind: 'address', value: last_address, ...common })] : []),
  ]
}

/** Pauses or resumes; programs are refused meanwhile, and the remaining time is kept. */
export const togglePause = (ctx: Ctx, actor: VendorActor, id: string, paused?: boolean): Promise<Client> =>
  changeEndUser(
    ctx,
    actor,
    id,
    async (write, client) => {
      const isPaused = client.paused_at !== null
      const next = paused ?? !isPaused
      if (next === isPaused) return
      const { now } = write
      const source = sourceOf(write.actor)
      const [changed] = await changeAccess(write, actor, { clients: [id] }, (holder) =>
        pausedFrom(holder, next, now, source),
      )
      if (next) write.record('end_user.paused', id, {}, client.app_id)
      else {
        const before = displayedEnd(client, client.paused_at ?? 0)
        const after = changed ? displayedEnd(changed.after.access, now) : null
        write.record('end_user.resumed', id, { before, after }, client.app_id)
      }
    },
    { lockFirst: ({ tx }) => lockLicensesOf(tx, actor, { clients: [id] }) },
  )

export const resetHwid = (ctx: Ctx, actor: VendorActor, id: string): Promise<Client> =>
  changeEndUser(ctx, actor, id, async (write, client) => {
    await freeLeasedSeats(write.tx, actor, [id])
    await freeAllDevices(write.tx, actor, [id])
    write.record('end_user.hwid_reset', id, { wasBound: client.device_count > 0 }, client.app_id)
  })

export async function extend(
  ctx: Ctx,
  actor: VendorActor,
  { id, days }: { id: string; days: number },
): Promise<Client> {
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  const lengthen = async (write: WriteTransaction, client: LockedEndUser) => {
    const now = ctx.clock.now()
    await reserveExtension(write.tx, actor, [id], maxLicensesPerApp, now)
    if (client.expires_at === never) throw problem('never_expires')
    const before = displayedEnd(client, now)
    const { ends } = await extendAll(write, actor, { noun: 'clients', ids: [id], extension: { days } })
    write.record('end_user.extended', id, { days, before, after: ends.get(id) ?? null }, client.app_id)
  }
  const lockFirst = ({ tx }: WriteTransaction) => lockLicensesOf(tx, actor, { clients: [id] })
  return changeEndUser(ctx, actor, id, lengthen, { lockFirst })
}

/** Deletes an end user; its licenses become unused. */
export async function deleteEndUser(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    if (!(await removeEndUser(write, actor, id))) throw problem('not_found')
  })
}

/** Deletes an end user in the caller's transaction; false without such an end user. */
export async function removeEndUser(
  write: WriteTransaction,
  actor: VendorActor,
  id: string,
): Promise<boolean> {
  const { tx, now } = write
  // Lock before freeing the licenses, so that a key added concurrently is freed too.
  await lockLicensesOf(tx, actor, { clients: [id] })
  const client = await lockEndUser(tx, actor, id)
  if (!client) return false
  await freeLeasedSeats(tx, actor, [id])
  const freed = await freeLicensesOf(write, actor, [id])
  await endProgramSessionsOf(tx, [id])
  if ((await repo.deleteEndUsers(tx, actor, [id], now)) === 0) return false
  const licenses = freed.map((license) => license.id)
  write.recordWith(licenses, 'end_user.deleted', id, {}, client.app_id)
  return true
}

/** Deletes the end users of an app in slices, each in its own transaction. The caller has checked the app's owner. */
export const deleteEndUsersInSlices = (
  ctx: Transactions,
  actor: Actor & OwnerScope,
  appId: string,
): Promise<number> =>
  inSlices(
    ctx,
    actor,
    async ({ tx }, size) => ({ found: await repo.deleteSlice(tx, actor, appId, size) }),
    (write, count) => write.record('end_users.slice_deleted', appId, { count }, appId),
  )

interface ChangeOptions {
  /** Locks what is locked before an end user. */
  lockFirst?: (write: WriteTransaction) => Promise<void>
  onTaken?: () => Error
}

/** Changes an end user of the scope in one transaction, which has locked it. */
export async function changeEndUser(
  ctx: Ctx,
  actor: VendorActor | ProgramActor,
  id: string,
  apply: (write: WriteTransaction, client: LockedEndUser) => Promise<void>,
  { lockFirst, onTaken }: ChangeOptions = {},
): Promise<Client> {
  const change = async (write: WriteTransaction) => {
    const { tx, now } = write
    await lockFirst?.(write)
    const locked = await lockEndUser(tx, actor, id)
    if (!locked) throw problem('not_found')
    await apply(write, locked)
    const row = await repo.findEndUser(tx, actor, id)
    if (!row) throw problem('not_found')
    return toEndUser(row, now)
  }
  return ctx.tx(actor, change, onTaken ? { onTaken } : {})
}

const usernameTaken = () => problem('username_taken')

export function toEndUser(row: repo.EndUserView, now: number): Client {
  return {
    _id: row.id,
    username: row.username,
    email: row.email,
    customer: row.customer,
    app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
    status: clientStatus({ ...row, expires_at: accessEnd(row, now) }, now),
    ban: row.banned === 1,
    banReason: row.ban_reason,
    paused: row.paused_at !== null,
    hwid: row.hwid,
    licenseKey: row.license_key,
    testLicense: row.license_test === 1,
    createdAt: toIso(row.created_at),
    ...endFields(row, now),
    lastLoginAt: toIsoOrNull(row.last_login_at),
    offline: toOffline(row, now),
  }
}

function toOffline(row: Pick<ClientRow, 'lease_until' | 'activation_until'>, now: number): Client['offline'] {
  const until = Math.max(row.lease_until ?? 0, row.activation_until ?? 0)
  if (until <= now) return null
  return { until: until === never ? null : toIso(until) }
}
