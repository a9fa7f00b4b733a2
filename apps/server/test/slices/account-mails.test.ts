// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makePremium, signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { invite } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'
import { SmtpSink } from '../smtp-sink.ts'

let sink: SmtpSink
let on: TestServer
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer({ SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000/keys' })
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

interface Account {
  base: string
  forgot: string
  email: string
  password: string
}

const kinds = {
  owner: async (): Promise<Account> => ({ base: '/auth', forgot: '/auth/forgot', ...(await signUp(on)) }),
  reseller: async (): Promise<Account> => {
    const owner = await signUp(on)
    await makePremium(on, owner)
    const reseller = await makeReseller(on, owner, await makeApp(owner))
    return { base: '/resellers/auth', forgot: '/reseller/auth/forgot', ...reseller }
  },
}

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'

let networks = 0
/** An address in a network that nothing came from before. */
const newAddress = () => {
  networks += 1
  return `100.${64 + (networks >> 8)}.${networks & 255}.9`
}

const signIn = async ({ base, email, password }: Account, from: string, agent: string) => {
  const { status, json } = await on.call('POST', `${base}/login`, {
    body: { email, password },
    from,
    headers: { 'user-agent': agent },
  })
  expect(status).toBe(200)
  return json.data.token as string
}

/** Waits until no mail is queued any more. */
const untilHandled = () =>
  expect
    .poll(() => on.database.db.selectFrom('mails').select('id').where('due_at', 'is not', null).execute())
    .toEqual([])

describe.each(Object.entries(kinds))('a sign-in of the %s', (_name, make) => {
  const mailsTo = async ({ email }: Account) => {
    await untilHandled()
    return textsTo(sink, email)
  }

  test('from a new device is mailed, with what to do', async () => {
    const account = await make()
    const token = await signIn(account, '203.0.113.7', firefox)
    const [mail = '', ...more] = await mailsTo(account)
    expect(more).toEqual([])
    expect(mail).toContain(account.email)
    expect(mail).toContain('Firefox on Windows')
    expect(mail).toContain('203.0.113.7')
    expect(mail).toContain(`http://127.0.0.1:4000/keys${account.forgot}`)
    expect(mail).not.toContain(account.password)
    expect(mail).not.toContain(token)
  })

  test('from a known network or program is not mailed', async () => {
    const account = await make()
    await signIn(account, '198.51.100.20', 'one')
    await expect.poll(() => textsTo(sink, account.email).length).toBe(1)
    await signIn(account, '198.51.100.77', 'two')
    await untilHandled()
    await signIn(account, newAddress(), 'one')
    await signIn(account, '198.51.100.20', 'one')
    expect(await mailsTo(account)).toHaveLength(1)
  })

  test('is mailed again after 90 days, and after the earlier sessions have ended', async () => {
    const account = await make()
    const token = await signIn(account, '192.0.2.5', 'one')
    await expect.poll(() => textsTo(sink, account.email).length).toBe(1)
    await on.call('POST', `${account.base}/logout`, { token })
    await signIn(account, '192.0.2.5', 'two')
    expect(await mailsTo(account)).toHaveLength(1)
    on.clock.advance(91 * day)
    await signIn(account, '192.0.2.5', 'one')
    expect(await mailsTo(account)).toHaveLength(2)
  })

  test('is mailed at most ten times a day', async () => {
    const account = await make()
    for (let at = 0; at < 14; at += 1) await signIn(account, newAddress(), `program ${at}`)
    expect(await mailsTo(account)).toHaveLength(10)
    on.clock.advance(day)
    await signIn(account, newAddress(), 'next day')
    expect(await mailsTo(account)).toHaveLength(11)
  })

  test('is mailed once if many use the same new device at once', async () => {
    const account = await make()
    const from = newAddress()
    await Promise.all(Array.from({ length: 8 }, () => signIn(account, from, 'at once')))
    expect(await mailsTo(account)).toHaveLength(1)
  })

  test('repeats nothing of a User-Agent in the mail', async () => {
    const account = await make()
    await signIn(account, newAddress(), 'Visit https://evil.example/ at once')
    const [mail = ''] = await mailsTo(account)
    expect(mail).toContain('an unknown program')
    expect(mail).not.toContain('evil.example')
  })

  test('with a wrong password is not mailed', async () => {
    const account = await make()
    const wrong = { ...account, password: 'wrong' }
    const { status } = await on.call('POST', `${account.base}/login`, {
      body: { email: wrong.email, password: wrong.password },
      from: newAddress(),
    })
    expect(status).toBe(401)
    expect(await mailsTo(account)).toEqual([])
  })
})

test('the first sign-in of a reseller, and a registration, are not mailed', async () => {
  const { email } = await kinds.reseller()
  await untilHandled()
  expect(textsTo(sink, email)).toEqual([])
})

test('accepting an invitation from a new device is mailed like any sign-in', async () => {
  const [person, inviter] = [await kinds.owner(), await signUp(on)]
  const { token } = await invite(inviter, { email: person.email, role: 'viewer' })
  const from = newAddress()
  const { status } = await on.call('POST', '/auth/invitations/accept', {
    body: { token, password: person.password },
    from,
    headers: { 'user-agent': firefox },
  })
  expect(status).toBe(200)
  await signIn(person, from, firefox)
  await untilHandled()
  expect(textsTo(sink, person.email).filter((text) => text.includes(from))).toHaveLength(1)
})

test('a new address is told to the old one, which learns neither the new one nor a secret', async () => {
  const owner = await signUp(on)
  const changed = `changed-${owner.email}`
  const { status } = await owner.call('PUT', '/auth/email', { email: changed, password: owner.password })
  expect(status).toBe(200)
  await expect.poll(() => textsTo(sink, owner.email).length).toBe(1)
  const [mail = ''] = textsTo(sink, owner.email)
  expect(mail).toContain('got another email address')
  expect(mail).toContain('inform the operator')
  expect(mail).not.toContain(changed)
  expect(mail).not.toContain(owner.password)
  expect(textsTo(sink, changed)).toEqual([])
})

test('a mailbox gets at most ten messages a day by changes of addresses', async () => {
  const victim = 'victim@example.com'
  for (let at = 0; at < 12; at += 1) {
    const owner = await signUp(on)
    const { password } = owner
    await owner.call('PUT', '/auth/email', { email: victim, password })
    await owner.call('PUT', '/auth/email', { email: `not-${owner.email}`, password })
  }
  await untilHandled()
  expect(textsTo(sink, victim)).toHaveLength(10)
})

test('mails to a reseller with the address of an owner silence none of the owner', async () => {
  const [owner, vendor] = [await kinds.owner(), await signUp(on)]
  await makePremium(on, vendor)
  const { _id } = await makeApp(vendor)
  const account = { ...owner, base: '/resellers/auth', password: 'sell them all' }
  const { email, password } = account
  await vendor.call('POST', '/resellers', { email, password, app_id: _id, allowed_license_keys: 1 })
  for (let at = 0; at < 12; at += 1) await signIn(account, newAddress(), `program ${at}`)
  await untilHandled()
  expect(textsTo(sink, email)).toHaveLength(10)
  await signIn(owner, newAddress(), 'thief')
  await expect.poll(() => textsTo(sink, email).length).toBe(11)
})

test('a mail server that does not answer delays no sign-in', async () => {
  const silent = await SmtpSink.start({ isSilent: true })
  const server = await startServer({ SMTP_URL: `smtp://${silent.host}`, PUBLIC_URL: 'http://127.0.0.1:4000' })
  const owner = await signUp(server)
  const { email, password } = owner
  for (let at = 0; at < 8; at += 1) {
    const { status } = await server.call('POST', '/auth/login', {
      body: { email, password },
      from: newAddress(),
    })
    expect(status).toBe(200)
  }
  await silent.stop()
  await server.close()
})

test('a sign-in is not mailed to a person who does not want it', async () => {
  const owner = await signUp(on)
  await owner.call('PUT', '/settings/notifications', { newSignIn: false })
  const account = { base: '/auth', forgot: '/auth/forgot', email: owner.email, password: owner.password }
  await signIn(account, newAddress(), 'unwanted')
  await untilHandled()
  expect(textsTo(sink, owner.email)).toEqual([])
  await owner.call('PUT', '/settings/notifications', { newSignIn: true })
  await signIn(account, newAddress(), 'wanted')
  await untilHandled()
  expect(textsTo(sink, owner.email)).toHaveLength(1)
})
