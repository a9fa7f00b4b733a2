import { Readable } from 'node:stream'
import { limits } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { FileAnswer } from '../../core/answers.ts'
import { toIso } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listActivity } from '../activity/activity.service.ts'
import { listEndUserDevices } from '../end-users/end-users.devices.ts'
import { getEndUser } from '../end-users/end-users.service.ts'
import { getLicense } from '../licenses/licenses.service.ts'
import { listOwnOrders } from '../shops/orders.service.ts'
import * as repo from './customer-records.repo.ts'
import { found, readMails, toCustomer } from './customer-records.service.ts'

/** Events of each end user, newest first, and mails. */
const eventsMost = 1000

/** All that is known of a person, as a JSON object that is sent while it is read. */
export async function exportCustomer(ctx: Ctx, actor: VendorActor, named: string): Promise<FileAnswer> {
  const customer = toCustomer(await found(ctx.db, actor, named))
  const { _id: id } = customer
  const licenses = await repo.listLicenseIds(ctx.database.lists, actor, id)
  const endUsers = await repo.listEndUsers(ctx.database.lists, actor, id, limits.searchCountMax)
  const parts = {
    licenses: mapped(actor.permissions.has('licenses:read') ? licenses : [], (license) =>
      getLicense(ctx, actor, license),
    ),
    clients: mapped(endUsers, async (endUser) => ({
      ...(await getEndUser(ctx, actor, endUser.id)),
      devices: (await listEndUserDevices(ctx, actor, endUser.id)).devices,
      events: await eventsOf(ctx, actor, endUser.id),
    })),
    orders: ordersOf(ctx, actor, id),
    mails: mapped(await readMails(ctx, actor, id, eventsMost), async (mail) => mail),
    apps: mapped(await repo.listFaces(ctx.db, id), async (face) => face),
  }
  return new FileAnswer({
    name: `customer-${id}-${toIso(ctx.clock.now()).slice(0, 10)}.json`,
    type: 'application/json; charset=utf-8',
    content: Readable.from(toJson(customer, parts), { highWaterMark: 2 }),
  })
}

async function eventsOf(ctx: Ctx, actor: VendorActor, client: string) {
  const events = []
  for (let page = 1; page <= eventsMost / limits.pageSizeMax; page += 1) {
    const found = await listActivity(ctx, actor, { client, page, limit: limits.pageSizeMax })
    events.push(...found.events)
    if (found.events.length < limits.pageSizeMax) break
  }
  return events
}

async function* ordersOf(ctx: Ctx, actor: VendorActor, customer: string): AsyncGenerator<object> {
  if (!actor.permissions.has('licenses:read')) return
  for (let page = 1; page <= limits.searchCountMax / limits.pageSizeMax; page += 1) {
    const { orders } = await listOwnOrders(ctx, actor, { customer, page, limit: limits.pageSizeMax })
    yield* orders
    if (orders.length < limits.pageSizeMax) return
  }
}

async function* mapped<Row>(
  rows: readonly Row[],
  read: (row: Row) => Promise<object>,
): AsyncGenerator<object> {
  for (const row of rows) yield await read(row)
}

async function* toJson(
  customer: object,
  parts: Record<string, AsyncGenerator<object>>,
): AsyncGenerator<string> {
  yield `{\n"customer": ${JSON.stringify(customer)}`
  for (const [name, rows] of Object.entries(parts)) {
    yield `,\n"${name}": [`
    let separator = '\n'
    for await (const row of rows) {
      yield separator + JSON.stringify(row)
      separator = ',\n'
    }
    yield '\n]'
  }
  yield '\n}\n'
}
