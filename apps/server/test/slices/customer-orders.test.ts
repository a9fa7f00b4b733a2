// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { createHash } from 'node:crypto'
import { limits } from '@keyward/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makePremium, type Owner, refusal, registerUser, signUp } from '../actors.ts'
import { openPage, signInBy } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { appForEach } from '../fixtures.ts'
import { startServer, type TestServer } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { SmtpSink } from '../smtp-sink.ts'

let sink: SmtpSink
let on: TestServer
const owner = {} as Owner
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer({ SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000/keys' })
  Object.assign(owner, await signUp(on))
  await makePremium(on, owner)
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})
const app = appForEach(owner)

let buyers = 0
const newBuyer = () => `orderer${++buyers}@engines.example`
const linksOf = (email: string, count = 1) =>
  eventually(() => {
    const links = mailedLinks(sink, email)
    expect(links).toHaveLength(count)
    return links
  })
const askLink = (email: string, from?: string) =>
  on.call('POST', `/customer/${app.appId}/mail`, { body: { email }, from })
const allRead = () =>
  eventually(async () => {
    const waiting = await on.database.db.selectFrom('reset_requests').select('id').execute()
    expect(waiting).toEqual([])
  })

test('an order names the license types that its products are sold as, and the product where there is none', async () => {
  await openPage(owner, app)
  const type = await makeType(owner, app._id, { name: 'Studio' })
  const shop = await makeShop(owner, app._id, [
    { product: 'price_1', type },
    { product: 'shirt', type: null },
  ])
  const email = newBuyer()
  const lines = [
    { product: 'price_1', quantity: 2 },
    { product: 'shirt', quantity: 1 },
  ]
  await sell(on, shop, paid('N-1', { email, lines }))
  await orderOnce(owner, 'N-1', { state: 'fulfilled' })
  await owner.call('DELETE', `/shops/${shop._id}`)
  await askLink(email)
  const [link] = await linksOf(email)
  const customer = await signInBy(on, app, { mailToken: link?.split('#')[1] })
  expect((await customer.me()).orders).toMatchObject([
    {
      order: 'N-1',
      lines: [
        { product: 'price_1', type: 'Studio', quantity: 2 },
        { product: 'shirt', type: null, quantity: 1 },
      ],
    },
  ])
})

test('an order shows no key that another customer has by now', async () => {
  await openPage(owner, app)
  const shop = await makeShop(owner, app._id, [
    { product: 'pro', type: await makeType(owner, app._id), quantity: 2 },
  ])
  const [email, other] = [newBuyer(), newBuyer()]
  await sell(on, shop, paid('N-2', { email }))
  const { licenses } = await orderOnce(owner, 'N-2', { state: 'fulfilled' })
  const [moved, kept] = licenses as { _id: string; key: string }[]
  expect((await owner.call('PUT', `/licenses/${moved?._id}`, { customer: other })).status).toBe(200)
  const openedBy = async (buyer: string) => {
    await askLink(buyer)
    const [link] = await linksOf(buyer)
    return (await signInBy(on, app, { mailToken: link?.split('#')[1] })).me()
  }
  const former = await openedBy(email)
  expect(former.orders).toMatchObject([{ order: 'N-2', licenses: [kept?.key] }])
  expect(JSON.stringify(former)).not.toContain(moved?.key)
  const { customer } = await orderOnce(owner, 'N-2', { state: 'fulfilled' })
  const exported = (await owner.call('GET', `/customers/${customer}/export`)).raw.toString()
  expect([exported.includes(kept?.key ?? ''), exported.includes(moved?.key ?? '')]).toEqual([true, false])
  expect(await openedBy(other)).toMatchObject({ orders: [], licenses: [{ key: moved?.key }] })
})

test('a mailed link opens the devices and refusals of each end user that uses what the customer has bought', async () => {
  await openPage(owner, app)
  const email = newBuyer()
  const [ada, bob] = [await registerUser(on, owner, app, 'ada'), await registerUser(on, owner, app, 'bob')]
  for (const { license } of [ada, bob])
    await owner.call('PUT', `/licenses/${license._id}`, { customer: email })
  await bob.program.call('POST', '/login', { username: 'bob', password: 'swordfish', hwid: 'bobs-pc' })
  await owner.call('PATCH', `/clients/${ada.user._id}/toggle-pause`)
  await askLink(email)
  const [link] = await linksOf(email)
  const customer = await signInBy(on, app, { mailToken: link?.split('#')[1] })
  const { clients } = await customer.me()
  const byName = Object.fromEntries(clients.map((one: { username: string }) => [one.username, one]))
  expect(byName).toMatchObject({
    ada: { hasPassword: true, refusedNow: 'pausedSub', devices: { used: 0 } },
    bob: { hasPassword: true, refusedNow: null, devices: { used: 1 } },
  })
  const { devices } = (await customer.call('GET', '/devices')).json.data
  expect(devices.map(({ client }: { client: string }) => client)).toEqual([bob.user._id])
  const unnamed = await customer.call('PUT', '/password', { newPassword: 'secret2' })
  expect(refusal(unnamed)).toBe('invalid_input')
  const named = await customer.call('PUT', '/password', { client: bob.user._id, newPassword: 'secret2' })
  expect(named.status).toBe(200)
})

describe('a password link of the vendor', () => {
  const send = (id: string) => owner.call('PUT', `/clients/${id}/password`, { mail: true })
  const wordsTo = (email: string) => textsTo(sink, email).join('\n')

  test('is written in the language of the newest order of its customer', async () => {
    await openPage(owner, app)
    const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
    const email = newBuyer()
    for (const [order, locale] of [
      ['L-1', 'es'],
      ['L-2', 'de_AT.UTF-8'],
      ['L-3', undefined],
    ] as const) {
      await sell(on, shop, paid(order, { email, ...(locale && { locale }) }))
      await orderOnce(owner, order, { state: 'fulfilled' })
    }
    const { user } = await registerUser(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}`, { customer: email })
    expect((await send(user._id)).status).toBe(200)
    await linksOf(email)
    expect(wordsTo(email)).toContain('mit diesem Link')
  })

  test("is written in the only language of the app's mails where no order names one, else in English", async () => {
    await openPage(owner, app)
    const { user } = await registerUser(on, owner, app)
    const email = newBuyer()
    await owner.call('PATCH', `/clients/${user._id}`, { email })
    await send(user._id)
    await linksOf(email)
    expect(wordsTo(email)).toContain('with this link you choose')
    const mail = { locale: 'es', subject: 'Hola', text: '{key}' }
    await owner.call('PUT', `/apps/${app._id}/mail`, mail)
    await send(user._id)
    await linksOf(email, 2)
    expect(wordsTo(email)).toContain('con este enlace eliges')
    await owner.call('PUT', `/apps/${app._id}/mail`, { ...mail, locale: 'de' })
    await send(user._id)
    await linksOf(email, 3)
    expect(textsTo(sink, email).at(-1)).toContain('with this link you choose')
  })

  test('is mailed 20 times a day, also by concurrent calls', async () => {
    await openPage(owner, app)
    const { user } = await registerUser(on, owner, app)
    const email = newBuyer()
    await owner.call('PATCH', `/clients/${user._id}`, { email })
    const answers = await Promise.all(
      Array.from({ length: limits.customerLinksOfOnePerDay + 4 }, () => send(user._id)),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(refusal)).toEqual(Array(4).fill('rate_limited'))
    await linksOf(email, limits.customerLinksOfOnePerDay)
    // What was refused is neither recorded nor a link.
    const { db } = on.database
    const records = db.selectFrom('audit').select('id').where('target_id', '=', user._id)
    expect(await records.where('action', '=', 'end_user.password_link_mailed').execute()).toHaveLength(
      limits.customerLinksOfOnePerDay,
    )
  })
})

test('an app mails 500 links a day, and the mails of its orders go on', async () => {
  await openPage(owner, app)
  const type = await makeType(owner, app._id)
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type }])
  const [first, last] = [newBuyer(), newBuyer()]
  for (const email of [first, last]) {
    await sell(on, shop, paid(`order of ${email}`, { email }))
    await orderOnce(owner, `order of ${email}`, { mail: 'sent' })
  }
  await askLink(first)
  await linksOf(first)
  const { db } = on.database
  const key = createHash('sha256').update(`customer links of app\n${app._id}`).digest('hex')
  const counted = await db
    .updateTable('attempts')
    .set({ count: limits.customerLinksPerDay })
    .where('key', '=', key)
    .returning('key')
    .execute()
  expect(counted).toHaveLength(1)
  const [known, unknown] = [await askLink(last), await askLink(newBuyer())]
  expect(known.raw.toString()).toBe(unknown.raw.toString())
  await allRead()
  await sell(on, shop, paid('after', { email: last }))
  await orderOnce(owner, 'after', { mail: 'sent' })
  expect(mailedLinks(sink, last)).toEqual([])
  const rows = await db.selectFrom('buyer_mails').select('place').where('owner_id', '=', owner.id).execute()
  expect(rows).toHaveLength(1)
})
