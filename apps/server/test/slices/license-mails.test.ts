import { randomUUID } from 'node:crypto'
import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp, trustMails } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { confirmAddress } from '../notified.ts'
import { times } from '../rounds.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { SmtpSink } from '../smtp-sink.ts'

const behaviour: { reply?: ((command: string) => string | undefined) | undefined } = {}
let sink: SmtpSink
let on: TestServer
beforeAll(async () => {
  sink = await SmtpSink.start(behaviour)
  on = await startServer(
    { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000' },
    { deliveriesEveryMs: 100 },
  )
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

const newBuyer = () => `${randomUUID()}@buyers.example`

async function newVendor(server = on) {
  const owner = await signUp(server)
  await makePremium(server, owner)
  const app = await makeApp(owner, 'Atlas')
  return {
    ...{ owner, app },
    make: (wanted: object) => owner.call('POST', '/licenses', { app: app._id, expiresAt: null, ...wanted }),
    again: (id: string) => owner.call('POST', `/licenses/${id}/mail`),
    once: (id: string, expected: object) =>
      eventually(async () => {
        const { license } = (await owner.call('GET', `/licenses/${id}`)).json.data
        expect(license).toMatchObject(expected)
        return license
      }),
  }
}

test('the keys of new licenses go to their customer in one mail, in its language and without an order, and again when asked', async () => {
  const { owner, app, make, again, once } = await newVendor()
  const text = 'Hallo {name},\n\n{key}\n\nBestellung: {order}\nGruss'
  const mail = { locale: 'de', subject: '{app} {order}', text, html: '<b>{key}</b>\n<p>{order}</p>' }
  await owner.call('PUT', `/apps/${app._id}/mail`, mail)
  // A text of one language alone would go to everybody.
  await owner.call('PUT', `/apps/${app._id}/mail`, {
    ...mail,
    locale: 'fr',
    text: 'Bonjour {name},\n\n{key}',
  })
  const email = newBuyer()
  // Its last order says which language it speaks.
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  await sell(on, shop, paid('L-1', { email, name: 'Grace Hopper', locale: 'de-AT' }))
  const order = await orderOnce(owner, 'L-1', { mail: 'sent' })
  const made = await make({ customer: email, count: 3, mail: true })
  expect(made.status).toBe(201)
  const { licenses } = made.json.data
  expect(licenses).toHaveLength(3)
  for (const license of licenses) {
    expect(license).toMatchObject({ mail: 'queued', mailWaitsFor: null })
    expect(await once(license._id, { mail: 'sent' })).toMatchObject({ customer: order.customer })
  }
  const [, keys = '', ...others] = textsTo(sink, email)
  expect(others).toEqual([])
  for (const { key } of licenses) expect(keys.split(key)).toHaveLength(3)
  expect(keys).toContain('Hallo Grace Hopper,')
  expect(keys).toContain('Gruss')
  expect(keys).not.toContain('Bestellung')
  expect(keys).not.toContain('<p>')
  const listed = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
  expect(listed.map((license: { mail: string }) => license.mail).toSorted()).toEqual([
    'none',
    'sent',
    'sent',
    'sent',
  ])
  const { mails } = (await owner.call('GET', `/customers/${order.customer}`)).json.data
  const license = { _id: licenses[0]._id, key: licenses[0].key }
  expect(mails).toContainEqual(expect.objectContaining({ order: null, license, state: 'sent' }))

  const [{ _id: id, key }] = licenses
  for (let at = 1; at <= limits.orderMailsPerDay; at += 1) {
    const repeated = await again(id)
    expect(repeated.json.data.license).toMatchObject({ _id: id, mail: 'queued' })
    await once(id, { mail: 'sent' })
  }
  expect(textsTo(sink, email).at(-1)).toContain(key)
  expect(textsTo(sink, email).at(-1)).not.toContain(licenses[1].key)
  expect(refusal(await again(id))).toBe('rate_limited')
  // Whoever has it now got no mail with it.
  const other = newBuyer()
  const moved = await owner.call('PUT', `/licenses/${licenses[1]._id}`, { customer: other })
  expect(moved.json.data.license).toMatchObject({ mail: 'none' })
  await again(licenses[1]._id)
  await once(licenses[1]._id, { mail: 'sent' })
  expect(textsTo(sink, other)).toHaveLength(1)
})

test('a mail waits for a confirmed address and for the next day, without keys that are gone by then', async () => {
  const { owner, make, again, once } = await newVendor()
  await trustMails(on, owner.id, 0)
  const emails = [newBuyer(), newBuyer(), newBuyer()]
  const made: { _id: string; key: string }[][] = []
  for (const customer of emails)
    made.push((await make({ customer, count: 2, mail: true })).json.data.licenses)
  for (const licenses of made)
    expect(licenses[1]).toMatchObject({ mail: 'waiting', mailWaitsFor: 'confirmation' })
  expect(refusal(await again(made[0]![0]!._id))).toBe('order_mail_queued')
  await owner.call('DELETE', `/licenses/${made[0]![0]!._id}`)
  for (const { _id } of made[1]!) await owner.call('DELETE', `/licenses/${_id}`)
  await on.database.db.updateTable('owners').set({ max_mails: 1 }).where('id', '=', owner.id).execute()
  await confirmAddress(on, owner)
  const states = await eventually(async () => {
    const found = []
    for (const { _id } of [made[0]![1]!, made[2]![0]!])
      found.push((await owner.call('GET', `/licenses/${_id}`)).json.data.license)
    expect(found.map(({ mail }) => mail).toSorted()).toEqual(['sent', 'waiting'])
    return found
  })
  expect(states.find(({ mail }) => mail === 'waiting')).toMatchObject({ mailWaitsFor: 'day' })
  await on.database.db.updateTable('owners').set({ max_mails: null }).where('id', '=', owner.id).execute()
  for (const { _id } of [made[0]![1]!, made[2]![0]!]) await once(_id, { mail: 'sent' })
  const [first = ''] = textsTo(sink, emails[0]!)
  expect(first).toContain(made[0]![1]!.key)
  expect(first).not.toContain(made[0]![0]!.key)
  expect(textsTo(sink, emails[1]!)).toEqual([])
  expect(textsTo(sink, emails[2]!)).toHaveLength(1)
})

/** The id of the mail with a license's key, once the mail server has refused it for now: no attempt runs until the clock moves. */
const refusedMailOf = (licenseId: string) =>
  eventually(async () => {
    const mail = await on.database.db
      .selectFrom('license_mails as l')
      .innerJoin('mails as m', (join) => join.on(sql`m.id`, 'like', sql`l.batch_id || '.%'`))
      .select(['m.id', 'm.last_error'])
      .where('l.license_id', '=', licenseId)
      .where('m.due_at', 'is not', null)
      .executeTakeFirst()
    expect(mail?.last_error).toContain('451')
    return mail?.id
  })

test('a mail that was not sent yet leaves out a key that another customer has by now', async () => {
  const { owner, make, again, once } = await newVendor()
  const [customer, other] = [newBuyer(), newBuyer()]
  behaviour.reply = (command) => (/^RCPT/.test(command) ? '451 later' : undefined)
  const [kept, moved] = (await make({ customer, count: 2, mail: true })).json.data.licenses
  expect(refusal(await again(kept._id))).toBe('order_mail_queued')
  const first = await refusedMailOf(kept._id)
  expect((await owner.call('PUT', `/licenses/${moved._id}`, { customer: other })).status).toBe(200)
  await eventually(async () => expect(await refusedMailOf(kept._id)).not.toBe(first))
  behaviour.reply = undefined
  on.clock.advance(hour)
  await once(kept._id, { mail: 'sent' })
  const [text, ...more] = textsTo(sink, customer)
  expect(more).toEqual([])
  expect(text).toContain(kept.key)
  expect(text).not.toContain(moved.key)
  expect(textsTo(sink, other)).toEqual([])
})

test('one customer gets new keys in 20 mails a day, also by concurrent calls', async () => {
  const { make } = await newVendor()
  const [customer, most] = [newBuyer(), limits.newKeyMailsOfOnePerDay]
  await make({ customer })
  const answers = await times(most + 4, () => make({ customer, mail: true }))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    ...Array(most).fill(201),
    ...Array(4).fill(429),
  ])
  expect((await make({ customer: newBuyer(), mail: true })).status).toBe(201)
})

test('no license is made whose key cannot be mailed as asked', async () => {
  const { owner, app, make, again } = await newVendor()
  expect(refusal(await make({ mail: true }))).toBe('no_address')
  const { license } = (await make({})).json.data
  expect(license).toMatchObject({ mail: 'none', mailWaitsFor: null })
  expect(refusal(await again(license._id))).toBe('no_address')
  const silent = await startServer()
  try {
    const other = await newVendor(silent)
    const customer = newBuyer()
    const refused = await other.make({ customer, mail: true })
    expect([refused.status, refusal(refused)]).toEqual([503, 'mail_off'])
    const { license: unsent } = (await other.make({ customer })).json.data
    expect(refusal(await other.again(unsent._id))).toBe('mail_off')
    const { pagination } = (await other.owner.call('GET', '/licenses')).json.data
    expect(pagination.total).toBe(1)
  } finally {
    await silent.close()
  }
  expect((await owner.call('GET', `/licenses?app=${app._id}`)).json.data.pagination.total).toBe(1)
})
