// On PostgreSQL in the full run: customer-mails, customers and edits send the same statements there.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeApp, makePremium, type Owner, refusal, registerUser, signUp, wrongFields } from '../actors.ts'
import { openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { startServer, type TestServer } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { addMember } from '../member-actor.ts'
import { jpeg, png } from '../pictures.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { SmtpSink } from '../smtp-sink.ts'

const person = 'Mara Lindqvist'
let sink: SmtpSink
let on: TestServer
const owner = {} as Owner
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer(
    { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000' },
    { deliveriesEveryMs: 100 },
  )
  Object.assign(owner, await signUp(on, person))
  await makePremium(on, owner)
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

const address = (picture: Buffer, type = 'png') => `data:image/${type};base64,${picture.toString('base64')}`
const digestOf = (picture: Buffer) => createHash('sha256').update(picture).digest('hex')
const put = (body: object, path = '/profile') => owner.call('PUT', path, body)
const none = { name: null, logo: null, support: null }

test('starts empty, keeps what a change omits, and is the app’s own where that has one', async () => {
  const app = await makeApp(owner)
  const path = `/apps/${app._id}/profile`
  expect((await owner.call('GET', '/profile')).json.data).toEqual(none)
  expect((await owner.call('GET', path)).json.data).toEqual(none)
  const logo = png(120, 40)
  expect((await put({ name: 'Nordlys', logo: logo.toString('base64') })).json.data).toEqual({
    ...{ name: 'Nordlys', support: null, logo: address(logo) },
  })
  const whole = { name: 'Nordlys', support: 'help@nordlys.example', logo: address(logo) }
  expect((await put({ support: 'help@nordlys.example' })).json.data).toEqual(whole)
  expect((await owner.call('GET', path)).json.data).toEqual(none)
  await openPage(owner, app)
  const shown = async () => (await on.call('GET', `/customer/${app.appId}`)).json.data
  expect(await shown()).toMatchObject({
    ...{ vendor: 'Nordlys', support: 'help@nordlys.example', logo: digestOf(logo) },
  })
  const photo = jpeg(300, 200)
  await put({ logo: address(photo, 'jpeg'), support: 'https://nordlys.example/help' }, path)
  expect(await shown()).toMatchObject({
    ...{ vendor: 'Nordlys', support: 'https://nordlys.example/help', logo: digestOf(photo) },
  })
  await put({ logo: null, support: null }, path)
  expect((await owner.call('GET', path)).json.data).toEqual(none)
  expect(await shown()).toMatchObject({ support: 'help@nordlys.example', logo: digestOf(logo) })
  const records = await on.database.db
    .selectFrom('audit')
    .select(['action', 'detail'])
    .where('action', 'in', ['vendor.profile_changed', 'app.profile_changed'])
    .orderBy('seq')
    .execute()
  expect(records).toHaveLength(4)
  expect(JSON.parse(String(records[0]?.detail))).toEqual({
    before: none,
    after: { name: 'Nordlys', support: null, logo: digestOf(logo) },
  })
  expect(JSON.stringify(records)).not.toContain(logo.toString('base64').slice(0, 60))
  await put(none)
})

test.each([
  ['a picture of another kind', { logo: Buffer.from('<svg xmlns="…"/>').toString('base64') }, 'logo'],
  [
    'another kind under the name of a PNG',
    { logo: address(Buffer.from('GIF89a\u0001\u0000\u0001\u0000')) },
    'logo',
  ],
  [
    'a JPEG that ends where it starts',
    { logo: address(Buffer.from('\xff\xd8\xff\xd9', 'latin1'), 'jpeg') },
    'logo',
  ],
  [
    'a JPEG without a frame',
    { logo: address(Buffer.from('\xff\xd8\xff\xe0\0\x02\xff\xd9', 'latin1'), 'jpeg') },
    'logo',
  ],
  ['a page behind a picture', { logo: address(Buffer.concat([png(9, 9), Buffer.from('<html>')])) }, 'logo'],
  ['a picture that is too wide', { logo: address(png(2001, 10)) }, 'logo'],
  ['one without a height', { logo: address(png(10, 0)) }, 'logo'],
  ['one of more than 200 kB', { logo: address(png(10, 10, 200_001)) }, 'logo'],
  ['what is no base64', { logo: 'data:image/png;base64,"onload=' }, 'logo'],
  ['a name with an address in it', { name: 'Pay <pay@evil.example>' }, 'name'],
  ['a name that turns text around', { name: 'Nord\u202elys' }, 'name'],
  ['a support link without https', { support: 'http://nordlys.example' }, 'support'],
  ['a support link that runs a script', { support: 'javascript:alert(1)' }, 'support'],
  ['an address with a header', { support: 'a@b.example\r\nBcc: c@d.example' }, 'support'],
  ['nothing', {}, ''],
])('refuses %s', async (_what, body, field) => {
  const answer = await put(body)
  expect([refusal(answer), wrongFields(answer)[0]]).toEqual(['invalid_input', field])
})

test('takes a picture of exactly 200 kB', async () => {
  expect((await put({ logo: address(png(2000, 2000, 200_000)) })).status).toBe(200)
  await put(none)
})

test('the logo goes to strangers where the page is on, by its digest, in a form that runs nothing', async () => {
  const app = await makeApp(owner)
  const logo = png(64, 64)
  await put({ logo: address(logo) }, `/apps/${app._id}/profile`)
  const load = (digest = digestOf(logo)) => on.call('GET', `/customer/${app.appId}/logo/${digest}`)
  expect(refusal(await load())).toBe('not_found')
  await openPage(owner, app)
  const { status, headers, raw } = await load()
  expect([status, raw.equals(logo)]).toEqual([200, true])
  expect(headers).toMatchObject({
    ...{ 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  expect(refusal(await load(digestOf(png(1, 1))))).toBe('not_found')
  await openPage(owner, app, { customerPage: false })
  expect(refusal(await load())).toBe('not_found')
})

test('a member with some apps reads the profile of the vendor and changes that of its apps alone', async () => {
  const [app, other] = [await makeApp(owner), await makeApp(owner)]
  const member = await addMember(on, owner, { role: 'manager', apps: [app._id] })
  expect((await member.call('GET', '/profile')).status).toBe(200)
  expect(refusal(await member.call('PUT', '/profile', { name: 'Mine' }))).toBe('permission_missing')
  expect((await member.call('PUT', `/apps/${app._id}/profile`, { name: 'Mine' })).status).toBe(200)
  expect(refusal(await member.call('PUT', `/apps/${other._id}/profile`, { name: 'Mine' }))).toBe('not_found')
})

/** Sells, asks for a link, uses a program, the page and the portal, and returns all that came back or was mailed. */
async function walk(email: string) {
  const app = await makeApp(owner, 'Lumen Studio')
  await openPage(owner, app, { buyUrl: 'https://nordlys.example/buy?from={reference}' })
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const number = `order-${email}`
  expect(await sell(on, shop, paid(number, { email, name: 'Ada' }))).toBe(200)
  const { licenses } = await orderOnce(owner, number, { state: 'fulfilled', mail: 'sent' })
  const key: string = licenses[0].key
  expect((await on.call('POST', `/customer/${app.appId}/mail`, { body: { email } })).status).toBe(200)
  const link = await eventually(() => {
    const [found] = mailedLinks(sink, email)
    expect(found).toBeDefined()
    return found ?? ''
  })
  const byLink = await signInBy(on, app, { mailToken: link.split('#')[1] })
  const { program } = await registerUser(on, owner, app)
  const { call } = await makeReseller(on, owner, app)
  const answers = [
    await on.call('GET', `/customer/${app.appId}`),
    await on.call('POST', `/customer/${app.appId}/login`, { body: { licenseKey: 'NO-SUCH-KEY' } }),
    await byLink.call('GET', '/me'),
    await byLink.call('GET', '/devices'),
    await (await signInByKey(on, app, key)).call('GET', '/me'),
    await program.call('POST', '/login', { username: 'alice', password: 'wrong', hwid: 'pc-1' }),
    await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-2' }),
    await call('GET', '/profile'),
    await call('GET', '/vendor'),
    await call('GET', '/licenses'),
    await on.call('GET', '/config'),
  ]
  const mails = sink.received.filter(({ to }) => to.includes(email))
  expect(mails).toHaveLength(2)
  const texts = [...answers.map(({ raw }) => raw.toString()), ...mails.map(({ head }) => head)]
  return { mails, all: [...texts, ...textsTo(sink, email)].join('\n'), answers }
}

test('no answer to a customer, a program or a reseller, and no mail, has the name of the owner', async () => {
  const { all, mails } = await walk('plain@buyers.example')
  expect(all).not.toMatch(/Mara|Lindqvist/)
  for (const { head } of mails) expect(head).toMatch(/^From: (")?Lumen Studio\1? </m)
})

test('mails, the page and the portal show the business, its logo and where to get help', async () => {
  const logo = png(64, 64)
  await put({ name: 'Nordlys Software', support: 'help@nordlys.example', logo: address(logo) })
  const { mails, all, answers } = await walk('faced@buyers.example')
  expect(all).not.toMatch(/Mara|Lindqvist/)
  for (const { head, body } of mails) {
    expect(head).toMatch(/^From: "?Nordlys Software"? </m)
    expect(head).toContain('Reply-To: help@nordlys.example')
    expect(body).toContain('Content-ID: <logo@keyward>')
    expect(body.replace(/\r\n/g, '')).toContain(logo.toString('base64'))
    expect(body).toContain('cid:logo@keyward')
    expect(body).toContain('Nordlys Software\r\nhelp@nordlys.example\r\nhttps://nordlys.example/buy?from=')
  }
  expect(answers[8]?.json.data).toEqual({
    ...{ name: 'Nordlys Software', support: 'help@nordlys.example', logo: address(logo) },
    shop: 'https://nordlys.example/buy?from=',
  })
  await put(none)
})

test('what the mail of an app names as sender and address for answers wins', async () => {
  const email = 'own@buyers.example'
  await put({ name: 'Nordlys Software', support: 'help@nordlys.example' })
  const app = await makeApp(owner, 'Lumen Studio')
  const mail = { subject: 'Key', text: '{key}', fromName: 'Lumen Team', replyTo: 'lumen@nordlys.example' }
  expect((await put(mail, `/apps/${app._id}/mail`)).status).toBe(200)
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  await sell(on, shop, paid('own', { email, name: 'Ada' }))
  await orderOnce(owner, 'own', { state: 'fulfilled', mail: 'sent' })
  const { head = '' } = sink.received.find(({ to }) => to.includes(email)) ?? {}
  expect(head).toMatch(/^From: "?Lumen Team"? </m)
  expect(head).toContain('Reply-To: lumen@nordlys.example')
  await put(none)
})

test('a profile goes with its app, and with a reset of the platform', async () => {
  const app = await makeApp(owner)
  await put({ name: 'App' }, `/apps/${app._id}/profile`)
  await put({ name: 'Vendor' })
  const ids = async () =>
    (await on.database.db.selectFrom('profiles').select('id').execute()).map(({ id }) => id)
  expect(await ids()).toEqual(expect.arrayContaining([app._id, owner.id]))
  expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
  expect(await ids()).not.toContain(app._id)
  expect((await owner.call('POST', '/settings/reset', { password: owner.password })).status).toBe(200)
  expect(await ids()).not.toContain(owner.id)
})
