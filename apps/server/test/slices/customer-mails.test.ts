import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import {
  type makeApp,
  makePremium,
  type Owner,
  refusal,
  registerUser,
  signUp,
  single,
  trustMails,
} from '../actors.ts'
import { logIn, openPage, signInBy } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { appForEach } from '../fixtures.ts'
import { startServer, type TestServer } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { queuedMails } from '../queued-mails.ts'
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
type App = Awaited<ReturnType<typeof makeApp>>

let buyers = 0
const newBuyer = () => `buyer${++buyers}@engines.example`

const sell = async (email: string, of: App = app) => {
  const body = { app: of._id, expiresAt: on.clock.inDays(30), customer: email }
  return (await owner.call('POST', '/licenses', body)).json.data.license as {
    _id: string
    key: string
    customer: string
  }
}

const ask = (email: string, { from, appId = app.appId }: { from?: string; appId?: string } = {}) =>
  on.call('POST', `/customer/${appId}/mail`, { body: { email, locale: 'de' }, from })

const linksOf = (email: string, count = 1) =>
  eventually(() => {
    const links = mailedLinks(sink, email)
    expect(links.length).toBeGreaterThanOrEqual(count)
    return links
  })
const tokenOf = (link: string | undefined) => link?.split('#')[1] ?? ''

/** Asks for a link and returns its token. */
const askToken = async (email: string): Promise<string> => {
  const before = mailedLinks(sink, email).length
  expect((await ask(email)).status).toBe(200)
  return tokenOf((await linksOf(email, before + 1)).at(-1))
}

describe('a mailed link', () => {
  test('opens all that the customer has in the app, keys too, and nothing of its other apps', async () => {
    await openPage(owner, app)
    const email = newBuyer()
    const [first, second] = [await sell(email), await sell(email)]
    const other = (await owner.call('POST', '/apps', { name: 'Other' })).json.data.app
    const elsewhere = await sell(email, other)
    expect((await ask(email)).status).toBe(200)
    const link = single(await linksOf(email))
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:4000/keys/u/${app.appId}#kwl_`))
    expect(textsTo(sink, email).join()).toContain('dieser Link zeigt')
    const customer = await signInBy(on, app, { mailToken: tokenOf(link) })
    const me = await customer.me()
    expect(me).toMatchObject({ kind: 'customer', email, orders: [], clients: [] })
    expect(me.licenses.map(({ key }: { key: string }) => key).sort()).toEqual([first.key, second.key].sort())
    expect(JSON.stringify(me)).not.toContain(elsewhere.key)
  })

  test('works once for 16 concurrent callers', async () => {
    await openPage(owner, app)
    const email = newBuyer()
    await sell(email)
    const mailToken = await askToken(email)
    const answers = await Promise.all(Array.from({ length: 16 }, () => logIn(on, app, { mailToken })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(refusal(answer)).toBe('customer_link_invalid')
  })

  test('works for 15 minutes, in its own app alone', async () => {
    const second = (await owner.call('POST', '/apps', { name: 'Second' })).json.data.app
    await openPage(owner, app)
    await openPage(owner, second)
    const email = newBuyer()
    await sell(email)
    const mailToken = await askToken(email)
    expect(refusal(await logIn(on, second, { mailToken }))).toBe('customer_link_invalid')
    on.clock.advance(15 * minute)
    expect(refusal(await logIn(on, app, { mailToken }))).toBe('customer_link_invalid')
  })

  test('and its sessions end when the address of the customer changes, and when it is erased', async () => {
    await openPage(owner, app)
    const email = newBuyer()
    const { customer: id } = await sell(email)
    const [mailToken, unused] = [await askToken(email), await askToken(email)]
    const customer = await signInBy(on, app, { mailToken })
    await owner.call('PUT', `/customers/${id}`, { email: `new-${email}` })
    expect(refusal(await customer.call('GET', '/me'))).toBe('unauthorized')
    expect(refusal(await logIn(on, app, { mailToken: unused }))).toBe('customer_link_invalid')
    const again = await signInBy(on, app, { mailToken: await askToken(`new-${email}`) })
    expect((await again.call('GET', '/me')).status).toBe(200)
    await owner.call('DELETE', `/customers/${id}`)
    expect(refusal(await again.call('GET', '/me'))).toBe('unauthorized')
  })

  test('is stored as a hash and not logged', async () => {
    await openPage(owner, app)
    const email = newBuyer()
    await sell(email)
    const token = await askToken(email)
    const rows = await on.database.db.selectFrom('customer_links').selectAll().execute()
    const mails = await on.database.db.selectFrom('mails').selectAll().execute()
    const requests = await on.database.db.selectFrom('reset_requests').selectAll().execute()
    expect(JSON.stringify([rows, mails, requests])).not.toContain(token)
    expect(JSON.stringify([rows, requests])).not.toContain(email)
  })

  test('lets a customer who has bought the license of an end user set its password', async () => {
    await openPage(owner, app)
    const email = newBuyer()
    const { license, user } = await registerUser(on, owner, app)
    await owner.call('PUT', `/licenses/${license._id}`, { customer: email })
    const customer = await signInBy(on, app, { mailToken: await askToken(email) })
    expect(single((await customer.me()).clients)).toMatchObject({ _id: user._id, hasPassword: true })
    expect((await customer.call('PUT', '/password', { newPassword: 'secret2' })).status).toBe(200)
    expect((await customer.call('GET', '/me')).status).toBe(200)
    expect((await logIn(on, app, { username: 'alice', password: 'secret2' })).status).toBe(200)
  })

  test('lets nobody set the password of an end user of another customer', async () => {
    await openPage(owner, app)
    const [email, other] = [newBuyer(), newBuyer()]
    const { license, user } = await registerUser(on, owner, app)
    await owner.call('PUT', `/licenses/${license._id}`, { customer: email })
    await owner.call('PATCH', `/clients/${user._id}`, { customer: other })
    const customer = await signInBy(on, app, { mailToken: await askToken(email) })
    for (const client of [user._id, 'usr_00000000000000000000000000000000']) {
      const answer = await customer.call('PUT', '/password', { client, newPassword: 'secret2' })
      expect(refusal(answer)).toBe('not_found')
    }
  })
})

describe('a request for a link', () => {
  test('has the same answer for customers, others, and customers of other apps, and mails only the first', async () => {
    await openPage(owner, app)
    const [known, elsewhere, unknown] = [newBuyer(), newBuyer(), newBuyer()]
    await sell(known)
    await sell(elsewhere, (await owner.call('POST', '/apps', { name: 'Other' })).json.data.app)
    const answers = [await ask(elsewhere), await ask(unknown), await ask(known)]
    const [first] = answers
    for (const answer of answers) expect(answer.raw.toString()).toBe(first?.raw.toString())
    await linksOf(known)
    await eventually(async () => {
      const waiting = await on.database.db.selectFrom('reset_requests').select('id').execute()
      expect(waiting).toHaveLength(0)
    })
    expect([mailedLinks(sink, elsewhere), mailedLinks(sink, unknown)]).toEqual([[], []])
  })
})

describe('a password link of the vendor', () => {
  const send = (id: string) => owner.call('PUT', `/clients/${id}/password`, { mail: true })

  test('lets the end user choose a password without the old one, once', async () => {
    const { user } = await registerUser(on, owner, app)
    expect(refusal(await send(user._id))).toBe('customer_page_off')
    await openPage(owner, app)
    expect(refusal(await send(user._id))).toBe('no_address')
    const email = newBuyer()
    await owner.call('PATCH', `/clients/${user._id}`, { email })
    expect((await send(user._id)).status).toBe(200)
    const mailToken = tokenOf(single(await linksOf(email)))
    const customer = await signInBy(on, app, { mailToken })
    expect(await customer.me()).toMatchObject({ kind: 'end_user', mustChoosePassword: user._id })
    expect((await customer.call('PUT', '/password', { newPassword: 'secret2' })).status).toBe(200)
    expect(await customer.me()).toMatchObject({ mustChoosePassword: null })
    expect(refusal(await customer.call('PUT', '/password', { newPassword: 'secret3' }))).toBe('invalid_input')
    expect((await logIn(on, app, { username: 'alice', password: 'secret2' })).status).toBe(200)
  })

  test('is mailed only for a vendor with a confirmed address', async () => {
    await openPage(owner, app)
    const { user } = await registerUser(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}`, { email: newBuyer() })
    await trustMails(on, owner.id, 0)
    expect(refusal(await send(user._id))).toBe('email_not_confirmed')
    await trustMails(on, owner.id, 1)
    expect((await send(user._id)).status).toBe(200)
  })

  test('ends when the password is set meanwhile, and goes to the customer if there is one', async () => {
    await openPage(owner, app)
    const { user } = await registerUser(on, owner, app)
    const email = newBuyer()
    await owner.call('PATCH', `/clients/${user._id}`, { email: newBuyer(), customer: email })
    await send(user._id)
    const mailToken = tokenOf(single(await linksOf(email)))
    await owner.call('PUT', `/clients/${user._id}/password`, { password: 'secret2' })
    expect(refusal(await logIn(on, app, { mailToken }))).toBe('customer_link_invalid')
  })
})

test('no mail waits that nothing sends', async () => {
  await eventually(async () => expect(await queuedMails(on)).toEqual([]))
})
