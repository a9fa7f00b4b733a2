// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp } from '../actors.ts'
import { keyward as runKeyward, runKeyward as startKeyward } from '../command-line.ts'
import { addTotp, askedBy } from '../factors.ts'
import { serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { insertOwners } from '../owner-rows.ts'
import { queuedMails } from '../queued-mails.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const keyward = (...args: string[]) => runKeyward(on, args)

const signIn = (base: string, email: string, password: string) =>
  on.call('POST', `${base}/login`, { body: { email, password } })
const auditOf = (ownerId: string) =>
  on.database.db
    .selectFrom('audit')
    .select(['actor_kind', 'action', 'target_id', 'detail'])
    .where('owner_id', '=', ownerId)
    .where('actor_kind', '=', 'operator')
    .execute()
const addReset = (account: { account_id: string } | { reseller_id: string }) =>
  on.database.db
    .insertInto('password_resets')
    .values({
      id: `rst_${Object.values(account)}`,
      account_id: null,
      reseller_id: null,
      ...account,
      token_hash: `hash of ${Object.values(account)}`,
      created_at: 0,
      expires_at: Number.MAX_SAFE_INTEGER,
    })
    .execute()
const resetsOf = (id: string) =>
  on.database.db.selectFrom('password_resets').select('id').where('id', '=', `rst_${id}`).execute()

test('lists every owner with plan and sign-up date, one per line', async () => {
  const [free, premium] = [await signUp(on), await signUp(on)]
  await on.database.db
    .updateTable('owners')
    .set({ premium_until: Date.parse('2999-01-01') })
    .where('id', '=', premium.id)
    .execute()
  const { code, stdout, stderr } = await keyward('owner', 'list')
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  const since = 'since 2026-03-04T10:20:30.000Z'
  expect(lines).toContainEqual(
    expect.stringMatching(new RegExp(`^${free.email}: Owner \\d+, free, ${since}$`)),
  )
  expect(lines).toContainEqual(
    expect.stringMatching(
      new RegExp(`^${premium.email}: Owner \\d+, premium until 2999-01-01T00:00:00.000Z, ${since}$`),
    ),
  )
  const { n } = await on.database.db
    .selectFrom('owners')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  expect(lines).toHaveLength(Number(n))
})

test('lists more owners than one page, each once', async () => {
  const owners = Array.from({ length: 1100 }, (_, index) => ({
    id: `own_many_${index}`,
    name: 'Many',
    email: `many${index}@example.com`,
    premium_until: null,
    created_at: 0,
  }))
  for (let at = 0; at < owners.length; at += 100) {
    await insertOwners(on.database.db, owners.slice(at, at + 100))
  }
  const { stdout } = await keyward('owner', 'list')
  const many = stdout.split('\n').filter((line) => line.startsWith('many'))
  expect([many.length, new Set(many).size]).toEqual([1100, 1100])
})

test('prints a new password once and ends sessions and mailed links', async () => {
  const owner = await signUp(on)
  await addReset({ account_id: owner.accountId })
  const { code, stdout, stderr } = await keyward('owner', 'reset-password', owner.email.toUpperCase())
  expect([code, stderr]).toEqual([0, ''])
  const [, email, password = ''] = /^(\S+): the new password is ([\w-]{23})\n/.exec(stdout) ?? []
  expect(email).toBe(owner.email)
  expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
  expect(refusal(await signIn('/auth', owner.email, owner.password))).toBe('invalid_credentials')
  expect((await signIn('/auth', owner.email, password)).status).toBe(200)
  expect(await resetsOf(owner.accountId)).toEqual([])
  const entries = await auditOf(owner.id)
  expect(entries).toEqual([
    { actor_kind: 'operator', action: 'owner.password_reset', target_id: owner.accountId, detail: '{}' },
  ])
  const again = await keyward('owner', 'reset-password', owner.email)
  expect(again.stdout).not.toContain(password)
})

test('sign-out ends every session and mailed link of one owner and keeps the password', async () => {
  const [owner, otherOwner] = [await signUp(on), await signUp(on)]
  await addReset({ account_id: owner.accountId })
  const ended = await keyward('owner', 'sign-out', owner.email)
  expect(ended).toEqual({ code: 0, stdout: `${owner.email}: every session has ended\n`, stderr: '' })
  expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
  expect((await otherOwner.call('GET', '/auth/profile')).status).toBe(200)
  expect((await signIn('/auth', owner.email, owner.password)).status).toBe(200)
  expect(await resetsOf(owner.accountId)).toEqual([])
  expect(await auditOf(owner.id)).toMatchObject([
    { action: 'owner.sessions_ended', target_id: owner.accountId },
  ])
})

test('reset the password and end the sessions of a member who owns nothing', async () => {
  const owner = await signUp(on)
  const member = await addMember(on, owner)
  const { code, stdout } = await keyward('owner', 'reset-password', member.email)
  expect(code).toBe(0)
  const password = /the new password is ([\w-]{23})\n/.exec(stdout)?.[1] ?? ''
  expect(refusal(await member.call('GET', '/auth/profile'))).toBe('unauthorized')
  const { token } = (await signIn('/auth', member.email, password)).json.data
  expect((await keyward('owner', 'sign-out', member.email)).code).toBe(0)
  expect(refusal(await on.call('GET', '/auth/profile', { token }))).toBe('unauthorized')
  expect((await keyward('owner', 'list')).stdout).not.toContain(member.email)
  expect(await auditOf(owner.id)).toMatchObject([
    { action: 'owner.password_reset', target_id: member.accountId },
    { action: 'owner.sessions_ended', target_id: member.accountId },
  ])
  await owner.call('DELETE', `/members/${member._id}`)
  expect((await keyward('owner', 'reset-password', member.email)).code).toBe(0)
})

test('resets the password of a reseller the same way and records it for its owner', async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  await addReset({ reseller_id: reseller._id })
  const { code, stdout } = await keyward('reseller', 'reset-password', reseller.email)
  expect(code).toBe(0)
  const password = /the new password is ([\w-]{23})\n/.exec(stdout)?.[1] ?? ''
  expect(refusal(await reseller.call('GET', '/profile'))).toBe('unauthorized')
  expect((await signIn('/resellers/auth', reseller.email, password)).status).toBe(200)
  expect((await owner.call('GET', '/auth/profile')).status).toBe(200)
  expect(await resetsOf(reseller._id)).toEqual([])
  expect(await auditOf(owner.id)).toMatchObject([
    { action: 'reseller.password_reset', target_id: reseller._id, detail: '{}' },
  ])
})

test('removes the second factor of an owner and of a reseller, and ends every session', async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  for (const [kind, base, { email, password, token }] of [
    ['owner', '/auth', owner],
    ['reseller', '/resellers/auth', reseller],
  ] as const) {
    const person = { base, email, password, token }
    await addTotp(on, person)
    await askedBy(on, person)
    const { code, stdout, stderr } = await keyward(kind, 'reset-second-factor', email.toUpperCase())
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(
      `${email}: the second factor is removed\nEvery session has ended. The password stays.\n`,
    )
    expect(refusal(await on.call('GET', `${base}/profile`, { token }))).toBe('unauthorized')
    expect((await signIn(base, email, password)).json.data.token).toEqual(expect.any(String))
    const again = await keyward(kind, 'reset-second-factor', email)
    expect(again.stdout).toContain('there was no second factor')
  }
  const actions = (await auditOf(owner.id)).map(({ action }) => action)
  expect(actions).toContain('owner.second_factors_removed')
  expect(actions).toContain('reseller.second_factors_removed')
})

const tokenIn = (link: string) => /^http:\S+\/auth\/reset#(kwp_[\w-]{43})$/.exec(link)?.[1] ?? ''
const valuesOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await keyward('owner', ...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const choose = (token: string) =>
  on.call('POST', '/auth/reset-password', { body: { token, password: 'chosen by Vera' } })

test('creates a vendor account with a link that chooses the password once, within seven days', async () => {
  const made = await valuesOf('create', 'Vera@example.com', '--name', 'Vera')
  expect(made).toEqual({
    email: 'Vera@example.com',
    owner: expect.stringMatching(/^own_/),
    mailed: false,
    link: expect.any(String),
    linkUntil: expect.stringMatching(/Z$/),
  })
  expect(Date.parse(made.linkUntil) - Date.now()).toBeGreaterThan(6.9 * day)
  const { user } = (await choose(tokenIn(made.link))).json.data
  expect(user).toMatchObject({ name: 'Vera', email: 'Vera@example.com', role: 'owner' })
  expect(refusal(await choose(tokenIn(made.link)))).toBe('reset_link_invalid')
  expect(await auditOf(made.owner)).toMatchObject([{ action: 'owner.registered' }])
  expect((await valuesOf('list')).owners).toContainEqual({
    ...{ email: 'Vera@example.com', name: 'Vera', owner: made.owner, apps: 0 },
    ...{ plan: 'free', planUntil: null, createdAt: expect.any(String) },
    disabledAt: null,
    limits: { apps: null, licensesPerApp: null, mails: null },
  })
  for (const action of ['create', 'invite']) {
    const { code, stderr } = await keyward('owner', action, 'vera@EXAMPLE.com')
    expect([code, stderr]).toEqual([1, 'There is already an account with the email vera@EXAMPLE.com.\n'])
  }
})

test('takes a password from standard input, and refuses one that the policy refuses', async () => {
  const { dataDir, databaseUrl = '', secretKey = '' } = on.config
  const environment = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey }
  const create = (email: string, password: string) =>
    startKeyward(
      ['owner', 'create', email, '--password-stdin'],
      { ...environment, PASSWORD_POLICY: 'strict' },
      ({ stdin }) => void stdin?.end(`${password}\n`),
    )
  const [made, refused] = await Promise.all([
    create('stdin@example.com', 'typed by a program'),
    create('short@example.com', 'password'),
  ])
  expect(made).toEqual({
    code: 0,
    stdout: 'stdin@example.com: created, with the given password\n',
    stderr: '',
  })
  expect((await signIn('/auth', 'stdin@example.com', 'typed by a program')).status).toBe(200)
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain('This password is too common')
  expect(refusal(await signIn('/auth', 'short@example.com', 'password'))).toBe('invalid_credentials')
})

test('invites by mail where mail is sent, prints the link elsewhere, and the newest link alone works', async () => {
  const first = await valuesOf('invite', 'ina@example.com')
  const second = await valuesOf('invite', 'ina@example.com')
  expect(second.owner).toBe(first.owner)
  expect(refusal(await choose(tokenIn(first.link)))).toBe('reset_link_invalid')
  const mailing = {
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'k@example.com',
    PUBLIC_URL: 'https://k.example.com',
  }
  const mailed = await runKeyward(on, ['owner', 'invite', 'ina@example.com', '--json'], {
    ...mailing,
    RATE_LIMITS: 'on',
  })
  expect([mailed.stderr, JSON.parse(mailed.stdout)]).toMatchObject(['', { mailed: true, link: null }])
  const mails = (await queuedMails(on)).filter(({ to }) => to === 'ina@example.com')
  const texts = mails.map(({ text }) => text)
  expect(texts).toHaveLength(1)
  expect(refusal(await choose(tokenIn(second.link)))).toBe('reset_link_invalid')
  const token = /https:\/\/k\.example\.com\/auth\/reset#(kwp_[\w-]{43})/.exec(texts[0] ?? '')?.[1] ?? ''
  expect((await choose(token)).status).toBe(200)
  expect((await keyward('owner', 'invite', 'ina@example.com')).code).toBe(1)
})

test.each([
  [['owner'], 'keyward owner list'],
  [['owner', 'list', 'more'], 'keyward owner list'],
  [['owner', 'reset-password'], 'keyward owner reset-password <email>'],
  [['owner', 'sign-out', 'a@example.com', 'b@example.com'], 'keyward owner sign-out <email>'],
  [['owner', 'fly', 'a@example.com'], 'keyward owner list'],
  [['owner', 'reset-password', 'nobody@example.com'], 'There is no owner with the email nobody@example.com.'],
  [['owner', 'sign-out', 'nobody@example.com'], 'There is no owner with the email nobody@example.com.'],
  [['owner', 'reset-second-factor'], 'keyward owner reset-second-factor <email>'],
  [['owner', 'reset-second-factor', 'nobody@example.com'], 'There is no owner with the email'],
  [['owner', 'list', '--days', '3'], 'owner does not take this option.'],
  [['owner', '--fast'], '--fast'],
  [['owner', 'create', 'nobody'], 'nobody is not an email address.'],
  [['owner', 'list', '--name', 'x'], 'does not take this option.'],
  [['owner', 'invite', 'a@example.com', '--password-stdin'], 'owner invite does not take this option.'],
  [['reseller', 'list'], 'keyward reseller reset-password <email>'],
  [['reseller', 'reset-password', 'nobody@example.com'], 'There is no reseller with the email'],
])('rejects %j with one line and exit code 1', async (args, text) => {
  const { code, stdout, stderr } = await keyward(...args)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(text)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})

test('reports a configuration mistake in one line', async () => {
  const environment = { PORT: 'x', HOST: '0.0.0.0', RATE_LIMITS: 'off' }
  const { code, stderr } = await runKeyward(on, ['owner', 'list'], environment)
  expect(code).toBe(1)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).toContain('PORT')
  expect(stderr).toContain('RATE_LIMITS')
})
