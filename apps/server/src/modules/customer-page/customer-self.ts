import {
  type CustomerSelf,
  type Device,
  type License,
  limits,
  type MessageKey,
  type OwnEndUser,
  type OwnLicense,
  type OwnOrder,
} from '@keyward/contract'
import type { CustomerActor } from '../../core/actor.ts'
import { day, toIso } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { never } from '../../db/stored-end.ts'
import type { Allowance } from '../../service/attempts.ts'
import { type LastRefusal, listLastRefusals, listRefusalsOfKeys } from '../activity/activity.service.ts'
import { listParts } from '../customer-records/customer-records.service.ts'
import { listActivationEnds, listDevicesOfMany } from '../devices/devices.access.ts'
import { deviceLimit } from '../devices/devices.rules.ts'
import { toDevice } from '../devices/devices.service.ts'
import { freeOwnDevice } from '../devices/own-devices.ts'
import { lockEndUser } from '../end-users/end-users.access.ts'
import { endUserSource } from '../end-users/end-users.service.ts'
import { ownRightsOf, rightsOf } from '../entitlements/terms.rules.ts'
import { readTypesById } from '../license-types/license-types.access.ts'
import { toLinkingApp, toLinks } from '../licenses/buy-links.ts'
import { licenseSource } from '../licenses/licenses.service.ts'
import { callOf, readSituation, type Situation } from '../program/program.service.ts'
import { listOwnOrders, listTypesSold } from '../shops/orders.service.ts'
import * as repo from './customer-page.repo.ts'
import { type CustomerPageDeps, getPage, textsOf, toPage } from './customer-page.service.ts'

const most = limits.customerPartsMax

/** The places in lists of what a session opens, newest first. */
interface Parts {
  licenses: number[]
  clients: { id: string; seq: number }[]
}

export async function partsOf(
  { ctx: { db } }: Pick<CustomerPageDeps, 'ctx'>,
  actor: CustomerActor,
): Promise<Parts> {
  const { kind, id } = actor.subject
  if (kind === 'license') {
    const found = await repo.findLicense(db, actor, id)
    if (!found) throw problem('unauthorized')
    const { seq, client_id, client_seq } = found
    const client = client_id === null || client_seq === null ? [] : [{ id: client_id, seq: client_seq }]
    return { licenses: [seq], clients: client }
  }
  if (kind === 'end_user') {
    const found = await repo.findEndUser(db, actor, id)
    if (!found) throw problem('unauthorized')
    return { licenses: await repo.listLicensesOf(db, actor, id, most), clients: [found] }
  }
  const { licenses, endUsers } = await listParts(db, actor, id, most)
  return { licenses, clients: endUsers }
}

/** Devices that a customer has freed of an end user. */
const freedDevices = (max: number): Allowance => ({
  name: 'customer devices',
  max,
  windowMs: limits.customerDeviceDays * day,
})

/** All that a session opens. */
export async function describeSelf(
  deps: CustomerPageDeps,
  actor: CustomerActor,
  locale: string | undefined,
): Promise<CustomerSelf> {
  const { ctx } = deps
  const { kind, id } = actor.subject
  const page = await getPage(ctx.db, actor.appId)
  const parts = await partsOf(deps, actor)
  const customer = kind === 'customer' ? await repo.findCustomer(ctx.db, id) : undefined
  const now = ctx.clock.now()
  const textOf = await textsOf(deps, page, locale)
  const clients = await readEndUsers(deps, actor, { page, parts, textOf })
  const known = new Set(clients.map(({ _id }) => _id))
  const licenses = await licenseSource.read(ctx, actor, parts.licenses, now)
  const types = page.type_links === 1 ? await readTypesById(ctx.db, page.id) : new Map()
  const unused = licenses.filter(({ usedBy }) => usedBy === null).map(({ key }) => key)
  const refusals = await listRefusalsOfKeys(ctx.db, actor, unused, now - limits.customerRefusalDays * day)
  return {
    ...(await toPage(ctx, page)),
    kind,
    email: customer?.email ?? null,
    name: customer?.name ?? null,
    licenses: await inOrder(licenses, async (license) => ({
      ...toOwnLicense(page, license, known),
      links: toLinks(ctx, toLinkingApp(page), { id: license._id, type: types.get(license.type?._id ?? '') }),
      refusal: await toRefusal(deps, actor, refusals.get(license.key), textOf),
    })),
    clients,
    orders: kind === 'customer' ? await readOrders(deps, actor) : null,
    mustChoosePassword: kind === 'end_user' && actor.byMail ? id : null,
    expiresAt: toIso(actor.endsAt),
  }
}

type TextOf = Awaited<ReturnType<typeof textsOf>>

/** What a refusal's later check needs. */
export type RefusalDeps = Pick<CustomerPageDeps, 'ctx' | 'reads' | 'blocks'>

export async function toRefusal(
  deps: RefusalDeps,
  { appId }: Pick<CustomerActor, 'appId'>,
  refused: LastRefusal | undefined,
  textOf: TextOf,
): Promise<OwnLicense['refusal']> {
  if (!refused) return null
  return {
    code: refused.code,
    message: textOf(refused.code, refused.reason),
    reference: refused.reference,
    at: toIso(refused.at),
    solved: await isSolved(deps, appId, refused),
  }
}

/** Whether the same call would be accepted now; false where nothing is known about it. */
async function isSolved(
  deps: RefusalDeps,
  appId: string,
  { code, call, address, situation }: LastRefusal,
): Promise<boolean> {
  const stored = situation as Situation | undefined
  if (!stored?.refusing.includes(code)) return false
  const before = { ...stored, call: callOf(stored, call) }
  const now = await readSituation(deps, { appId, before, address })
  return now?.refusing.length === 0
}

/** One after the other, so that one customer occupies one connection. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await map(item))
  return results
}

const toOwnLicense = (
  page: repo.PageRow,
  license: License,
  clients: ReadonlySet<string>,
): Omit<OwnLicense, 'refusal' | 'links'> => {
  const { _id, key, type, usedBy, status, features, test, createdAt } = license
  const { expiresAt, graceDays, inGrace, term, duration, startedAt } = license
  return {
    ...{ _id, key, type: type?.name ?? null, features, test, createdAt },
    status: test && page.test_licenses === 0 ? 'banned' : status,
    client: usedBy && clients.has(usedBy._id) ? usedBy._id : null,
    ...{ expiresAt, graceDays, inGrace, term, duration, startedAt },
  }
}

type Details = Awaited<ReturnType<typeof repo.listDetails>>[number]

/** Whether a session may set the password of an end user: its own, or that of someone who uses what the customer has bought. */
export function maySetPassword({ kind, id }: CustomerActor['subject'], details: Details): boolean {
  if (details.has_password === 0 || kind === 'license') return false
  return kind === 'end_user' || (details.customer_id ?? details.buyer_id) === id
}

export const rightsOfEndUser = (
  { devices, seats, seat_timeout_seconds, features, ...added }: Details,
  now: number,
) =>
  rightsOf(
    devices === null || features === null || seat_timeout_seconds === null
      ? undefined
      : { devices, seats, seat_timeout_seconds, features },
    added,
    now,
  )

async function readEndUsers(
  deps: CustomerPageDeps,
  actor: CustomerActor,
  { page, parts, textOf }: { page: repo.PageRow; parts: Parts; textOf: TextOf },
): Promise<OwnEndUser[]> {
  const { ctx, attempts } = deps
  if (parts.clients.length === 0) return []
  const ids = parts.clients.map(({ id }) => id)
  const now = ctx.clock.now()
  const shown = await endUserSource.read(
    ctx,
    actor,
    parts.clients.map(({ seq }) => seq),
    now,
  )
  const all = await repo.listDetails(ctx.db, actor, ids)
  const max = page.customer_devices
  const freed = await attempts.readCounts(freedDevices(max), ids)
  const refusals = await listLastRefusals(ctx.db, actor, ids, now - limits.customerRefusalDays * day)
  const known = shown.flatMap((client) => {
    const details = all.find(({ id }) => id === client._id)
    return details ? { client, details } : []
  })
  return inOrder(known, async ({ client, details }): Promise<OwnEndUser> => {
    const rights = rightsOfEndUser(details, now)
    const freedNow = freed.get(client._id)
    const used = freedNow?.count ?? 0
    return {
      _id: client._id,
      username: actor.subject.kind !== 'license' && details.has_password === 1 ? client.username : null,
      hasPassword: maySetPassword(actor.subject, details),
      expiresAt: client.expiresAt,
      inGrace: client.inGrace,
      rights: ownRightsOf(details, now),
      devices: { used: details.device_count, limit: deviceLimit(rights) },
      floating: rights !== null && rights.seats !== null,
      freed: {
        used,
        limit: max,
        until: freedNow && max > 0 && used >= max ? toIso(freedNow.window_ends) : null,
      },
      refusal: await toRefusal(deps, actor, refusals.get(client._id), textOf),
      refusedNow: refusedNow(page, client, details),
    }
  })
}

/** The first check that refuses on every device, in the order of the program's checks. */
function refusedNow(
  page: repo.PageRow,
  client: { ban: boolean; paused: boolean; status: string },
  details: Details,
): MessageKey | null {
  if (page.pause_applications === 1) return 'appDisabled'
  if (page.paused === 1) return 'pausedApp'
  if (client.ban) return 'userBanned'
  const isStoppedTest = page.test_licenses === 0 && details.license_test === 1
  if (isStoppedTest || details.license_banned === 1) return 'keyBanned'
  if (client.paused) return 'pausedSub'
  return client.status === 'expired' ? 'noActiveSubs' : null
}

async function readOrders({ ctx }: CustomerPageDeps, actor: CustomerActor): Promise<OwnOrder[]> {
  const query = { app: actor.appId, customer: actor.subject.id, page: 1, limit: most }
  const { orders } = await listOwnOrders(ctx, actor, query)
  const typeOf = await listTypesSold(ctx.db, actor, actor.appId)
  return orders.map(({ shop, order, lines, amount, currency, state, licenses, createdAt }) => ({
    ...{ order, amount, currency, state, createdAt },
    lines: lines.map((line) => ({ ...line, type: typeOf(shop._id, line.product) })),
    licenses: licenses.map(({ key }) => key),
  }))
}

type OwnDevice = Device & { client: string; offline: boolean; offlineUntil: string | null }

/** The devices that a session opens. */
export async function listDevices(deps: CustomerPageDeps, actor: CustomerActor): Promise<OwnDevice[]> {
  const { db, clock } = deps.ctx
  const ids = (await partsOf(deps, actor)).clients.map(({ id }) => id)
  if (ids.length === 0) return []
  const devices = await listDevicesOfMany(db, actor, ids, limits.deviceListMax)
  const ends = await listActivationEnds(db, ids, clock.now())
  return devices.map((row) => {
    const end = ends.get(row.id)
    const offlineUntil = end === undefined || end === never ? null : toIso(end)
    return { ...toDevice(row), client: row.client_id, offline: end !== undefined, offlineUntil }
  })
}

/** Frees a device, so many of an end user within a period as the app allows. */
export async function freeDevice(
  deps: CustomerPageDeps,
  actor: CustomerActor,
  deviceId: string,
): Promise<void> {
  const { ctx, attempts } = deps
  const { clients } = await partsOf(deps, actor)
  const clientId = await repo.findDeviceOwner(ctx.db, actor, deviceId)
  if (clientId === undefined || !clients.some(({ id }) => id === clientId)) throw problem('not_found')
  const { customer_devices: max } = await getPage(ctx.db, actor.appId)
  if (max === 0) throw problem('device_self_service_off')
  await ctx.tx(actor, async (write) => {
    const client = await lockEndUser(write.tx, actor, clientId)
    if (!client) throw problem('not_found')
    // A new computer cannot wait for the lease of the old one: `customerDevices` bounds what goes on running.
    await freeOwnDevice(write, actor, client, { deviceId, keepsLeasedPlace: false })
    const counted = await attempts.addIn(write.tx, freedDevices(max), 1, clientId)
    if (counted.count > max)
      throw problem('device_free_limit', { details: { until: toIso(counted.window_ends) } })
  })
}
