// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '@keyward/contract'
import { afterAll, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { openDatabase } from '../../src/db/open.ts'
import { endClaims } from '../end-claims.ts'
import { eventually } from '../eventually.ts'
import { makePostgresCopy } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { copyMigratedFile } from '../migrated.ts'
import { rounds } from '../rounds.ts'
import { callOver, quickestOf, startProcess } from '../server-process.ts'
import { paid } from '../shop-events.ts'
import { shuffled } from '../shop-outcomes.ts'
import { kinds, newShopOf, protocols, requestOf, startShopHosts, toTold } from '../shop-protocols.ts'
import { SmtpSink } from '../smtp-sink.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-shops-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const host = quickestOf('test/webhook-host.ts')
/** Each order has one mail at most, and the mails of more orders would wait for the next day. */
const orderCount = rounds(24, limits.buyerMailsPerDay)
const kills = 3
const isPostgres = process.env.TEST_DATABASE === 'postgres'
/** SQLite has one process, which is restarted. */
const nodeCount = isPostgres ? 2 : 1

test('every accepted event of every kind of shop is used exactly once through three kills, and its mail arrives once', async () => {
  const hosts = await startShopHosts()
  // Until the last kill the mail server does not answer, so that no mail is accepted and its acceptance lost.
  const hanging = { isSilent: true }
  const sink = await SmtpSink.start(hanging)
  const environment = {
    DATA_DIR: join(dataDir, 'server'),
    SECRET_KEY: 'a secret key that only tests use, 32+ characters',
    DEFAULT_PLAN: 'premium',
    SMTP_URL: `smtp://${sink.host}`,
    ...hosts.environment,
    ...(isPostgres ? { DATABASE_URL: await makePostgresCopy() } : {}),
  }
  if (!isPostgres) await copyMigratedFile(environment.DATA_DIR)
  // While registration is open, the server mails no customers of a vendor with an unconfirmed address.
  const start = () => startProcess({ ...environment, REGISTRATION: 'closed' }, [], host)
  const nodes = [await startProcess(environment, [], host)]
  const anyNode = () => nodes[Math.floor(Math.random() * nodes.length)]!
  /** Asks any node until one answers, as shops do. */
  const untilDone = <T>(ask: (url: string) => Promise<T>): Promise<T> =>
    eventually(() => ask(anyNode().url), { timeout: 600_000, interval: 200 })
  let token: string | undefined
  const call = (method: string, path: string, body?: object) =>
    untilDone(async (url) => {
      const answer = await callOver(url, method, path, { ...(token && { token }), body })
      if (answer.status >= 300) throw new Error(JSON.stringify(answer.json))
      return answer.json.data
    })
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  token = (await call('POST', '/auth/register', vendor)).token
  await nodes.pop()!.end('SIGTERM')
  for (let at = 0; at < nodeCount; at += 1) nodes.push(await start())
  const { app } = await call('POST', '/apps', { name: 'Atlas' })
  const { licenseType } = await call('POST', `/apps/${app._id}/license-types`, {
    name: 'Pro',
    term: 'forever',
  })
  const { licenseType: month } = await call('POST', `/apps/${app._id}/license-types`, {
    ...{ name: 'Month', term: 'date', duration: { value: 30, unit: 'days' } },
  })
  const { license: kept } = await call('POST', '/licenses', { app: app._id, type: month._id })
  const { buyReference: reference } = (await call('GET', `/licenses/${kept._id}`)).license
  // Only a license that is used can be renewed.
  const opened = await call('POST', '/client/init', { appId: app.appId, secret: app.appSecret, version: '1' })
  const headers = { 'keyward-app': app.appId }
  const signIn = { token: opened.session, headers, body: { licenseKey: kept.key, hwid: 'pc-1' } }
  expect((await callOver(anyNode().url, 'POST', '/client/license', signIn)).status).toBe(200)
  const products = [
    { product: 'pro', type: licenseType._id },
    { product: 'month', type: month._id },
  ]
  const shops: { kind: (typeof kinds)[number]; hook: string; secret: string }[] = []
  for (const kind of kinds) {
    const wanted = newShopOf(kind, products)
    const { shop } = await call('POST', `/apps/${app._id}/shops`, wanted)
    shops.push({ ...shop, secret: wanted.secret })
  }

  let accepted = 0
  const send = async ({ shop: { kind, hook, secret }, said }: (typeof orders)[number][number]) => {
    await untilDone(async (url) => {
      const { payload, headers } = requestOf(kind, said, secret, new Date())
      const answer = await fetch(`${url}${hook}`, { method: 'POST', headers, body: payload })
      if (answer.status !== 200) throw new Error(`${answer.status}`)
    })
    accepted += 1
  }
  const quantityOf = (at: number) => 1 + (at % 3)
  const emailOf = (at: number) => `buyer-${at}@example.com`
  const isRenewal = (at: number) => at % 4 === 1
  const orders = Array.from({ length: orderCount }, (_, at) => {
    const order = `order-${at}`
    const email = emailOf(at)
    const bought = isRenewal(at)
      ? { email, reference, lines: [{ product: 'month', quantity: 1 }] }
      : { email, lines: [{ product: 'pro', quantity: quantityOf(at) }] }
    const events = [
      { ...paid(order, bought), id: `paid-${at}` },
      { ...paid(order, bought), id: `paid-${at}` },
      { ...paid(order, bought), id: `again-${at}` },
      ...(at % 2 === 0 ? [{ id: `refund-${at}`, type: 'order.refunded', data: { order } }] : []),
    ]
    const shop = shops[at % shops.length]!
    const { say } = protocols[shop.kind]
    const told = events.map((event) => toTold(event, new Date()))
    return shuffled(told.map((event) => ({ shop, said: say(event, hosts.hosts[shop.kind]) })))
  })
  const total = orders.flat().length
  const killing = (async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      await eventually(() => expect(accepted).toBeGreaterThan((total * kill) / (kills + 1)), {
        timeout: 600_000,
        interval: 5,
      })
      const at = kill % nodeCount
      await nodes[at]!.end('SIGKILL')
      nodes[at] = await start()
    }
    hanging.isSilent = false
  })()
  await Promise.all([killing, ...orders.map(async (events) => Promise.all(events.map(send)))])
  // The leases of what a killed process was using end first.
  await eventually(
    async () => {
      const listed = async (state: string) =>
        (await call('GET', `/orders?app=${app._id}&state=${state}&limit=1`)).pagination.total
      // In this order: an order can be fulfilled until it is refunded.
      expect(await listed('refunded')).toBe(orderCount / 2)
      expect(await listed('fulfilled')).toBe(orderCount / 2)
    },
    { timeout: 600_000, interval: 200 },
  )
  const renewals = orders.filter((_, at) => isRenewal(at)).length
  const { license: renewed } = await call('GET', `/licenses/${kept._id}`)
  const end = Date.parse(kept.expiresAt) + renewals * 30 * day
  expect(renewed).toMatchObject({ key: kept.key, expiresAt: new Date(end).toISOString() })
  const database = { url: environment.DATABASE_URL, dataDir: environment.DATA_DIR }
  for (const node of nodes) expect(await node.end('SIGTERM')).toBe(0)
  await endClaims(database)
  nodes.splice(0, nodes.length, await start())
  const arrived = (at: number) => textsTo(sink, emailOf(at))
  await eventually(
    async () => {
      for (let at = 1; at < orderCount; at += 2) expect(arrived(at), `order-${at}`).not.toEqual([])
    },
    { timeout: 600_000, interval: 200 },
  )
  expect(await nodes[0]!.end('SIGTERM')).toBe(0)
  hosts.close()
  await sink.stop()
  const { db, close } = openDatabase(database)
  const stored = await db.selectFrom('shop_orders').select(['id', 'number', 'state', 'mail']).execute()
  const units = await db
    .selectFrom('shop_order_units')
    .select(['order_id', 'license_id', 'renewed_id'])
    .execute()
  const licenses = await db.selectFrom('licenses').select(['id', 'key', 'banned']).execute()
  const mails = await db.selectFrom('mails').select(['id', 'state']).where('id', 'like', 'sor_%').execute()
  await close()
  const banned = new Map(licenses.map(({ id, banned }) => [id, banned]))
  expect(banned.size).toBe(units.filter(({ license_id }) => license_id !== null).length + 1)
  const keys = new Map(licenses.map(({ id, key }) => [id, key]))
  expect(mails.filter(({ state }) => state !== 'sent')).toEqual([])
  const mailed = mails.map(({ id }) => id.split('.')[0])
  for (const { id, number, state, mail } of stored) {
    const at = Number(number.slice('order-'.length))
    const isRefunded = at % 2 === 0
    expect({ number, state }).toEqual({ number, state: isRefunded ? 'refunded' : 'fulfilled' })
    const own = units.filter((unit) => unit.order_id === id)
    const sent = mailed.filter((order) => order === id).length
    if (!isRefunded) expect({ number, arrived: arrived(at).length }).toEqual({ number, arrived: 1 })
    if (isRenewal(at)) {
      // Its buyer gets a receipt.
      expect(own).toEqual([{ order_id: id, license_id: null, renewed_id: kept._id }])
      expect({ number, mail }).toEqual({ number, mail: 'none' })
      expect({ number, sent }).toEqual({ number, sent: 1 })
      continue
    }
    const bans = own.map((unit) => banned.get(unit.license_id ?? ''))
    expect(bans, number).toEqual(Array.from({ length: quantityOf(at) }, () => (isRefunded ? 1 : 0)))
    // The mail of a refunded order is withdrawn, unless it was sent before.
    expect({ number, mail, sent }).toEqual({ number, mail, sent: mail === 'none' ? 0 : 1 })
    expect(arrived(at).length, number).toBeLessThanOrEqual(1)
    if (isRefunded) continue
    expect({ number, sent }).toEqual({ number, sent: 1 })
    for (const unit of own) expect(arrived(at)[0]).toContain(keys.get(unit.license_id ?? ''))
  }
  expect(stored).toHaveLength(orderCount)
}, 900_000)
