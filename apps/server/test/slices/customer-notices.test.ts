import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { system } from '../../src/core/actor.ts'
import { day, hour } from '../../src/core/clock.ts'
import { findEnds } from '../../src/modules/customer-mails/customer-mails.due.ts'
import { newSettings } from '../../src/modules/customer-mails/customer-mails.rules.ts'
import {
  type SecurityNews,
  tellPaymentFailed,
  tellRenewed,
  tellSecurity,
} from '../../src/modules/customer-mails/customer-mails.tell.ts'
import { createCustomerMails } from '../../src/modules/customer-mails/customer-mails.worker.ts'
import { makeApp, makePremium, makeType, refusal, signUp, wrongFields } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { tidyUp } from '../fixtures.ts'
import { ctxOf, startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { queuedMails } from '../queued-mails.ts'
import { times } from '../rounds.ts'
import { allUsed, lookedAtEnds, makeShop, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { SmtpSink } from '../smtp-sink.ts'

const all = { endsSoonDays: [14, 3], ended: true, paymentFailed: true, updatesEndSoon: true, renewed: true }
const behaviour: { isSilent?: boolean; reply?: (command: string) => string | undefined } = {}
let sink: SmtpSink
let on: TestServer
beforeAll(async () => {
  sink = await SmtpSink.start(behaviour)
  on = await startServer(
    { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'https://127.0.0.1:4000' },
    { deliveriesEveryMs: 100 },
  )
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

const newEmail = () => `${randomUUID()}@customers.example`

async function newVendor(settings: object = all) {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner, 'Atlas')
  const put = (body: object) => owner.call('PUT', `/apps/${app._id}/customer-mails`, body)
  expect((await put(settings)).status).toBe(200)
  return {
    owner,
    app,
    put,
    settings: async () => (await owner.call('GET', `/apps/${app._id}/customer-mails`)).json.data,
    /** A license of a customer of its own, that ends in so many days. */
    license: async (days: number | null, wanted: object = {}) => {
      const email = newEmail()
      const expiresAt = days === null ? null : on.clock.inDays(days)
      const body = { app: app._id, expiresAt, customer: email, ...wanted }
      const answer = await owner.call('POST', '/licenses', body)
      const [{ _id }] = answer.json.data.licenses
      return { _id, email, change: (change: object) => owner.call('PUT', `/licenses/${_id}`, change) }
    },
    mails: async (query = '') =>
      (await owner.call('GET', `/customer-mails?app=${app._id}${query && `&${query}`}`)).json.data.mails,
  }
}

/** The mails of a license, oldest first, once they have ended as expected. */
const toldOf = (vendor: Awaited<ReturnType<typeof newVendor>>, email: string, expected: string[]) =>
  eventually(async () => {
    const mails = (await vendor.mails()).filter(
      (mail: { customer: { email: string } }) => mail.customer.email === email,
    )
    const said = mails.map(({ kind, days, state }: { kind: string; days: number | null; state: string }) =>
      [kind, days, state].filter((part) => part !== null).join(' '),
    )
    expect(said.toReversed()).toEqual(expected)
  })

/** Lists a security fix, and returns what customers are told of it. */
async function listFix(
  { owner, app }: Awaited<ReturnType<typeof newVendor>>,
  version: string,
): Promise<SecurityNews> {
  const summary = 'Files could be read.'
  const security = { severity: 'high', affects: [{ before: version }], summary }
  const body = { version, releasedAt: on.clock.inDays(-1), security }
  const { release } = (await owner.call('POST', `/apps/${app._id}/releases`, body)).json.data
  return { id: release._id, owner_id: owner.id, app_id: app._id, version, summary, link: null }
}

const lookedAt = ({ _id }: { _id: string }) => lookedAtEnds(on, _id)

describe('the settings of an app', () => {
  test('start with renewals alone, keep what a call leaves out, and are recorded', async () => {
    const owner = await signUp(on)
    const app = await makeApp(owner)
    const path = `/apps/${app._id}/customer-mails`
    const off = { endsSoonDays: [], ended: false, paymentFailed: false, updatesEndSoon: false, renewed: true }
    expect((await owner.call('GET', path)).json.data).toEqual(off)
    const saved = await owner.call('PUT', path, { endsSoonDays: [3, 14], ended: true })
    expect(saved.json.data).toEqual({ ...off, endsSoonDays: [14, 3], ended: true })
    expect((await owner.call('PUT', path, { renewed: false })).json.data.ended).toBe(true)
    const { records } = (await owner.call('GET', '/audit?action=app.customer_mails_changed')).json.data
    expect(records).toHaveLength(2)
    for (const endsSoonDays of [[0], [91], [1, 2, 3, 4, 5], [7, 7], [1.5]])
      expect(wrongFields(await owner.call('PUT', path, { endsSoonDays }))[0]).toMatch(/^endsSoonDays/)
    expect(refusal(await owner.call('PUT', path, {}))).toBe('invalid_input')
  })
})

describe('the end of a license', () => {
  test('is told 14 and 3 days before and when it has come, each once, in the order and the words of the app', async () => {
    const vendor = await newVendor()
    const type = (
      await vendor.owner.call('POST', `/apps/${vendor.app._id}/license-types`, {
        ...{ name: 'Pro', term: 'date', duration: { value: 20, unit: 'days' } },
        renewUrl: 'https://shop.example/renew?a={reference}',
      })
    ).json.data.licenseType
    const one = await vendor.license(null, { expiresAt: undefined, type: type._id })
    await lookedAt(vendor.app)
    await toldOf(vendor, one.email, [])
    const said: string[] = []
    for (const [days, kind] of [
      [7, 'endsSoon 14'],
      [10, 'endsSoon 3'],
      [4, 'ended'],
      [1, undefined],
    ] as const) {
      on.clock.advance(days * day)
      if (kind) said.push(`${kind} sent`)
      await lookedAt(vendor.app)
      await toldOf(vendor, one.email, said)
    }
    const texts = textsTo(sink, one.email)
    expect(texts).toHaveLength(3)
    const { buyReference } = (await vendor.owner.call('GET', `/licenses/${one._id}`)).json.data.license
    expect(texts[0]).toContain(`https://shop.example/renew?a=${buyReference}`)
    expect(texts[0]).not.toContain('{')
    expect(texts.join()).not.toContain('#kw')
    expect((await vendor.mails('kind=ended')).length).toBe(1)
    const shown = (await vendor.mails())[0]
    expect(shown).toMatchObject({ app: { name: 'Atlas' }, license: { _id: one._id }, kind: 'ended' })
    expect(shown.doneAt).not.toBeNull()
  })

  test('is told to no customer of a banned or a test license, to nobody without one, and not of an end from before', async () => {
    // Mails are off until all licenses are set up.
    const vendor = await newVendor({ ended: false })
    const { customer } = (await vendor.owner.call('POST', '/customers', { email: newEmail(), mails: false }))
      .json.data
    expect(customer.mails).toBe(false)
    const banned = await vendor.license(2)
    const ends = await vendor.license(1)
    const silent = await vendor.license(2, { customer: customer._id })
    const nobody = await vendor.license(2, { customer: undefined })
    await vendor.owner.call('PATCH', `/licenses/${banned._id}/toggle-ban`, {})
    const trial = await vendor.license(2)
    await on.database.db.updateTable('licenses').set({ test: 1 }).where('id', '=', trial._id).execute()
    await vendor.put({ ...all, ended: false })
    on.clock.advance(hour)
    await toldOf(vendor, ends.email, ['endsSoon 3 sent'])
    on.clock.advance(day)
    await vendor.put({ ended: true })
    on.clock.advance(hour)
    await lookedAt(vendor.app)
    const mails = await vendor.mails()
    expect(mails.map((mail: { license: { _id: string } }) => mail.license._id)).toEqual([ends._id])
    expect([silent, nobody, trial, banned].flatMap(({ email }) => textsTo(sink, email))).toEqual([])
  })

  test('is not told of a license that is renewed before the mail server takes the mail', async () => {
    const vendor = await newVendor()
    behaviour.reply = (command) => (command.startsWith('RCPT') ? '451 later' : undefined)
    const [one, other] = [await vendor.license(2), await vendor.license(2)]
    on.clock.advance(hour)
    // Neither is on its way to the mail server any more.
    for (const { email } of [one, other])
      await eventually(() => expect(sink.commands.join()).toContain(`RCPT TO:<${email}>`))
    await one.change({ expiresAt: on.clock.inDays(300) })
    behaviour.reply = undefined
    on.clock.advance(2 * hour)
    await toldOf(vendor, one.email, ['endsSoon 3 dropped'])
    await toldOf(vendor, other.email, ['endsSoon 3 sent'])
    expect(textsTo(sink, one.email)).toEqual([])
  })

  test('that comes before its mail could be sent is missed, and shown so', async () => {
    const vendor = await newVendor({ endsSoonDays: [3], ended: false })
    behaviour.reply = (command) => (command.startsWith('RCPT') ? '451 later' : undefined)
    const one = await vendor.license(1)
    on.clock.advance(hour)
    await toldOf(vendor, one.email, ['endsSoon 3 queued'])
    on.clock.advance(2 * day)
    await tidyUp(on)
    behaviour.reply = undefined
    await toldOf(vendor, one.email, ['endsSoon 3 missed'])
  })

  test('is told in the language of the last order, and not while a subscription goes on', async () => {
    const vendor = await newVendor()
    const type = await makeType(vendor.owner, vendor.app, {
      term: 'date',
      duration: { value: 30, unit: 'days' },
    })
    const shop = await makeShop(vendor.owner, vendor.app._id, [{ product: 'pro', type: type._id }])
    const email = newEmail()
    const until = on.clock.inDays(10)
    await sell(on, shop, paid('S-1', { email, locale: 'de-AT' }))
    await orderOnce(vendor.owner, 'S-1', { mail: 'sent' })
    await sell(on, shop, { type: 'subscription.renewed', data: { order: 'S-1', until } })
    await eventually(async () => {
      const [{ licenses }] = (await vendor.owner.call('GET', '/orders?search=S-1')).json.data.orders
      const { license } = (await vendor.owner.call('GET', `/licenses/${licenses[0]._id}`)).json.data
      expect(license.expiresAt).toBe(until)
    })
    on.clock.advance(hour)
    await lookedAt(vendor.app)
    await toldOf(vendor, email, [])
    await sell(on, shop, { type: 'subscription.ended', data: { order: 'S-1' } })
    await eventually(async () => {
      const row = await on.database.db
        .selectFrom('shop_orders')
        .select('renews')
        .where('number', '=', 'S-1')
        .where('app_id', '=', vendor.app._id)
        .executeTakeFirstOrThrow()
      expect(row.renews).toBe(0)
    })
    on.clock.advance(hour)
    await toldOf(vendor, email, ['ended sent'])
    const words = textsTo(sink, email).at(-1)
    expect(words).toMatch(/^Guten Tag/)
    expect(words).toMatch(/Ihre Lizenz .* Atlas ist am \d{1,2}\. .* 20\d\d abgelaufen\./)
    expect(words).toContain('Keine solchen E-Mails mehr: http')
  })

  test('is not told before its subscription was looked at, which may leave it for ever', async () => {
    const vendor = await newVendor()
    const { _id: type } = await makeType(vendor.owner, vendor.app)
    const shop = await makeShop(vendor.owner, vendor.app._id, [{ product: 'pro', type }])
    await sell(on, shop, paid('E-1', { email: newEmail() }))
    const { licenses } = await orderOnce(vendor.owner, 'E-1', { state: 'fulfilled' })
    const { db } = on.database
    const ends = on.clock.now() + 500
    await db.updateTable('licenses').set({ expires_at: ends }).where('id', '=', licenses[0]._id).execute()
    const setOrder = (ends_at: number | null) =>
      db.updateTable('shop_orders').set({ ends_at }).where('app_id', '=', vendor.app._id).execute()
    // A second later than for the server, which looks at the order itself.
    const found = async () => {
      const settings = { ...newSettings, endedSince: ends - day }
      const ids: string[] = []
      for await (const due of findEnds(db, vendor.app._id, settings, ends + 500))
        ids.push(...due.map(({ license_id }) => license_id))
      return ids
    }
    await setOrder(ends)
    expect(await found()).toEqual([])
    await setOrder(null)
    expect(await found()).toEqual([licenses[0]._id])
  })

  test('is told once by four nodes that look at the same time', async () => {
    const vendor = await newVendor({ renewed: true })
    const licenses = await times(12, () => vendor.license(2))
    const errors: unknown[] = []
    const parts = { ctx: ctxOf(on), consoleUrl: () => 'http://127.0.0.1:4000' }
    const options = { onError: (error: unknown) => errors.push(error), pollMs: 20 }
    const nodes = Array.from({ length: 4 }, () => createCustomerMails(parts, options))
    for (const node of nodes) node.start()
    await vendor.put(all)
    const told = () =>
      sink.received.flatMap(({ to }) => to).filter((to) => licenses.some(({ email }) => email === to))
    // A mail that is with the mail server would be sent again once the clock has moved.
    await eventually(async () => expect(await vendor.mails('state=sent')).toHaveLength(licenses.length))
    on.clock.advance(hour)
    await lookedAt(vendor.app)
    await Promise.all(nodes.map((node) => node.end()))
    expect(told().toSorted()).toEqual(licenses.map(({ email }) => email).toSorted())
    expect(errors).toEqual([])
  })

  test('is not told any more once its app is deleted, whether the mail waits or is with the mail server', async () => {
    const vendor = await newVendor()
    await on.database.db
      .updateTable('owners')
      .set({ max_mails: 2 })
      .where('id', '=', vendor.owner.id)
      .execute()
    behaviour.reply = (command) => (command.startsWith('RCPT') ? '451 later' : undefined)
    const [one, other] = [await vendor.license(2), await vendor.license(2.5)]
    on.clock.advance(hour)
    await toldOf(vendor, one.email, ['endsSoon 3 queued'])
    await toldOf(vendor, other.email, ['endsSoon 3 waiting'])
    expect((await vendor.owner.call('DELETE', `/apps/${vendor.app._id}`)).status).toBe(200)
    behaviour.reply = undefined
    on.clock.advance(day)
    await eventually(async () => expect((await queuedMails(on)).map(({ to }) => to)).not.toContain(one.email))
    expect([one, other].flatMap(({ email }) => textsTo(sink, email))).toEqual([])
    const left = on.database.db.selectFrom('customer_mails').select('id').where('app_id', '=', vendor.app._id)
    expect(await left.execute()).toEqual([])
  })
})

describe('other news', () => {
  test('updates that end before the license are told of once', async () => {
    const vendor = await newVendor()
    const type = await makeType(vendor.owner, vendor.app, {
      term: 'forever',
      duration: null,
      updatesForDays: 20,
    })
    const one = await vendor.license(null, { expiresAt: undefined, type: type._id })
    on.clock.advance(7 * day)
    await toldOf(vendor, one.email, ['updatesEndSoon sent'])
    on.clock.advance(day)
    await lookedAt(vendor.app)
    await toldOf(vendor, one.email, ['updatesEndSoon sent'])
  })

  test('a payment that fails is told once, by the order of the license', async () => {
    const { owner, app, mails } = await newVendor()
    const type = await makeType(owner, app)
    const shop = await makeShop(owner, app._id, [{ product: 'pro', type: type._id }])
    const email = newEmail()
    expect(await sell(on, shop, paid('F-1', { email }))).toBe(200)
    const tell = async (type: string, more: object = {}) => {
      const timestamp = on.clock.inDays(0)
      expect(await sell(on, shop, { type, timestamp, data: { order: 'F-1', ...more } })).toBe(200)
      await allUsed(on, shop._id)
    }
    await tell('subscription.renewed', { until: on.clock.inDays(30) })
    const toldNow = async () =>
      (await mails('kind=paymentFailed')).map(({ license }: { license: object }) => license)
    expect(await toldNow()).toEqual([])
    for (let time = 0; time < 2; time += 1) {
      on.clock.advance(hour)
      await tell('subscription.payment_failed')
    }
    expect(await toldNow()).toHaveLength(1)
  })

  test('a renewal, a failed payment and a security update reach their customer once, whoever tells them how often', async () => {
    const vendor = await newVendor()
    const one = await vendor.license(60)
    const ctx = ctxOf(on)
    const license = await on.database.db
      .selectFrom('licenses')
      .selectAll()
      .where('id', '=', one._id)
      .executeTakeFirstOrThrow()
    const order = { id: 'sor_1', number: 'R-7' }
    const news = await listFix(vendor, '1.2.4')
    for (let time = 0; time < 2; time += 1)
      await ctx.tx(system, async (write) => {
        await tellRenewed(write, license, order)
        await tellPaymentFailed(write, license, order)
        await tellSecurity(write, news, [license.customer_id ?? ''])
      })
    on.clock.advance(hour)
    await eventually(async () => {
      const states = (await vendor.mails()).map(
        ({ kind, state }: Record<string, string>) => `${kind} ${state}`,
      )
      expect(states.toSorted()).toEqual(['paymentFailed sent', 'renewed sent', 'security sent'])
    })
    const heads = sink.received.filter(({ to }) => to.includes(one.email)).map(({ head }) => head)
    expect(
      heads.map((head) => head.includes('List-Unsubscribe-Post: List-Unsubscribe=One-Click')).toSorted(),
    ).toEqual([false, false, true])
    expect(textsTo(sink, one.email).join()).toContain(news.summary)
  })
})

test('a security update that was withdrawn or removed is told no more, also if it waits for the mail server', async () => {
  const vendor = await newVendor()
  const fixes = [await listFix(vendor, '1.2.4'), await listFix(vendor, '1.2.5')]
  const licenses = [await vendor.license(60), await vendor.license(60)]
  const tell = async (license: { _id: string } | undefined) => {
    const db = on.database.db.selectFrom('licenses').select('customer_id')
    const { customer_id } = await db.where('id', '=', license?._id ?? '').executeTakeFirstOrThrow()
    await ctxOf(on).tx(system, async (write) => {
      for (const news of fixes) await tellSecurity(write, news, [customer_id ?? ''])
    })
  }
  const areAll = async (state: string, some = licenses) => {
    for (const { email } of some) await toldOf(vendor, email, [`security ${state}`, `security ${state}`])
  }
  behaviour.reply = (command) => (/^RCPT/.test(command) ? '451 later' : undefined)
  await tell(licenses[0])
  on.clock.advance(hour)
  await areAll('queued', licenses.slice(0, 1))
  const [withdrawn, removed] = fixes.map(({ id }) => `/releases/${id}`)
  expect((await vendor.owner.call('POST', `${withdrawn}/withdraw`)).status).toBe(200)
  expect((await vendor.owner.call('DELETE', `${removed}`)).status).toBe(200)
  await tell(licenses[1])
  behaviour.reply = () => undefined
  on.clock.advance(hour)
  await areAll('dropped')
  for (const { email } of licenses) expect(textsTo(sink, email)).toEqual([])
})

describe('unsubscribing', () => {
  test('is what a POST does, by a mail program or by hand, and nothing that opens the link', async () => {
    const vendor = await newVendor()
    const one = await vendor.license(2)
    on.clock.advance(hour)
    await toldOf(vendor, one.email, ['endsSoon 3 sent'])
    const { head } = sink.received.find(({ to }) => to.includes(one.email)) ?? { head: '' }
    const link =
      /^List-Unsubscribe: <(https:\/\/127\.0\.0\.1:4000\/api\/unsubscribe\/kwu_[\w-]{43})>$/m.exec(
        head,
      )?.[1] ?? ''
    expect(textsTo(sink, one.email)[0]).toContain(link)
    const { pathname } = new URL(link)
    const customerNow = async () =>
      (await vendor.owner.call('GET', `/customers?search=${one.email}`)).json.data.customers[0]
    const open = (method: 'GET' | 'POST', url: string, headers = {}, payload?: string) =>
      on.server.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
    const page = await open('GET', pathname, { 'accept-language': 'de-AT,en;q=0.5' })
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect(page.payload).toContain('<button>Abmelden</button>')
    expect(page.payload).not.toContain(one.email)
    expect((await customerNow()).mails).toBe(true)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const forged = `/api/unsubscribe/kwu_${'A'.repeat(43)}`
    expect((await open('POST', forged, form, 'List-Unsubscribe=One-Click')).statusCode).toBe(200)
    expect((await customerNow()).mails).toBe(true)
    const stopped = await open('POST', pathname, form, 'List-Unsubscribe=One-Click')
    expect([stopped.statusCode, stopped.payload.includes('You get no more of these mails.')]).toEqual([
      200,
      true,
    ])
    expect((await customerNow()).mails).toBe(false)
    const other = await vendor.license(2, { customer: one.email })
    on.clock.advance(hour)
    await lookedAt(vendor.app)
    expect(
      (await vendor.mails()).filter((mail: { license: { _id: string } }) => mail.license._id === other._id),
    ).toEqual([])
    const { _id } = await customerNow()
    await vendor.owner.call('PUT', `/customers/${_id}`, { mails: true })
    expect((await open('POST', pathname)).statusCode).toBe(200)
    expect((await customerNow()).mails).toBe(false)
    const { records } = (await vendor.owner.call('GET', '/audit?action=customer.unsubscribed')).json.data
    expect(records).toHaveLength(2)
  })
})

describe('the mails of a day', () => {
  test('leave half to purchases, and go on the next day', async () => {
    const vendor = await newVendor()
    await on.database.db
      .updateTable('owners')
      .set({ max_mails: 3 })
      .where('id', '=', vendor.owner.id)
      .execute()
    const told = []
    for (let at = 0; at < 4; at += 1) told.push(await vendor.license(3 - at / 10))
    on.clock.advance(hour)
    const states = async () => (await vendor.mails()).map(({ state }: { state: string }) => state).toSorted()
    await eventually(async () => expect(await states()).toEqual(['sent', 'sent', 'waiting', 'waiting']))
    const type = await makeType(vendor.owner, vendor.app, { term: 'forever', duration: null })
    const shop = await makeShop(vendor.owner, vendor.app._id, [{ product: 'pro', type: type._id }])
    await sell(on, shop, paid('D-1', { email: newEmail() }))
    await orderOnce(vendor.owner, 'D-1', { mail: 'sent' })
    on.clock.advance(day)
    await eventually(async () => expect(await states()).toEqual(['sent', 'sent', 'sent', 'sent']))
  })
})

test('a preview has the values of a license, and a mail of a kind its own text and placeholders', async () => {
  const { owner, app, license } = await newVendor()
  const one = await license(5)
  const path = `/apps/${app._id}/mail`
  const { sample } = (await owner.call('GET', `${path}/sample?kind=endsSoon&locale=de`)).json.data
  expect(sample).toMatchObject({
    to: one.email,
    license: { _id: one._id },
    values: { app: 'Atlas', renew: null },
  })
  expect(sample.values.end).toMatch(/^\d{1,2}\. \p{L}+ 20\d\d$/u)
  const put = (kind: string, body: object) => owner.call('PUT', `${path}?kind=${kind}`, body)
  const key = await put('endsSoon', { subject: 'Soon', text: 'Until {end}: {key}' })
  expect([wrongFields(key)[0], key.json.errors[0].message]).toEqual([
    'text',
    expect.stringContaining('{key}'),
  ])
  expect(wrongFields(await put('purchase', { subject: 'Keys', text: '{key} {end}' }))[0]).toBe('text')
  const html = '<p>Until {end}</p><a href="{renew}">Renew</a>'
  expect((await put('endsSoon', { subject: 'Soon', text: 'Until {end}', html })).json.data.changed).toBe(true)
  expect((await owner.call('GET', path)).json.data.changed).toBe(false)
  expect((await owner.call('GET', `${path}?kind=endsSoon`)).json.data.mail.subject).toBe('Soon')
  expect((await owner.call('DELETE', `${path}?kind=endsSoon`)).json.data.mail.subject).toContain('{end}')
})

test("a customer's page and export list its mails, and an erasure removes them", async () => {
  const vendor = await newVendor()
  const one = await vendor.license(2)
  on.clock.advance(hour)
  await toldOf(vendor, one.email, ['endsSoon 3 sent'])
  const [{ _id }] = (await vendor.owner.call('GET', `/customers?search=${one.email}`)).json.data.customers
  const { mails } = (await vendor.owner.call('GET', `/customers/${_id}`)).json.data
  expect(mails).toMatchObject([{ kind: 'endsSoon', state: 'sent', order: null }])
  expect((await vendor.mails(`customer=${_id}`)).length).toBe(1)
  const file = await vendor.owner.call('GET', `/customers/${_id}/export`)
  expect(JSON.parse(file.raw.toString()).mails).toMatchObject([{ kind: 'endsSoon' }])
  expect((await vendor.owner.call('DELETE', `/customers/${_id}`)).status).toBe(200)
  expect(await vendor.mails()).toEqual([])
})
