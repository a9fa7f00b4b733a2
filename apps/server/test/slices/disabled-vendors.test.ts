// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import {
  hashed,
  makeApp,
  makeLicenses,
  makePremium,
  type Owner,
  type Program,
  refusal,
  signUp,
  single,
  startProgram,
} from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { keyward as runKeyward } from '../command-line.ts'
import { addPasskey, passkeyLogin } from '../factors.ts'
import { serverForAll } from '../fixtures.ts'
import { addMember, addPerson, invite } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeWebhook } from '../webhook-actor.ts'

const on = serverForAll()
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await runKeyward(on, ['owner', ...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const disabled = 'vendor_disabled'
const signIn = (base: string, { email, password }: { email: string; password: string }) =>
  on.call('POST', `${base}/login`, { body: { email, password } })

async function addLink(account: { account_id: string } | { reseller_id: string }): Promise<string> {
  const token = `kwp_${Object.values(account)}`.padEnd(47, 'x')
  const row = { account_id: null, reseller_id: null, ...account, token_hash: hashed(token) }
  await on.database.db
    .insertInto('password_resets')
    .values({ id: token, ...row, created_at: 0, expires_at: Number.MAX_SAFE_INTEGER })
    .execute()
  return token
}
const reset = (base: string, token: string) =>
  on.call('POST', `${base}/reset-password`, { body: { token, password: 'another one' } })
const webhooksOf = async (owner: Owner) =>
  Object.fromEntries(
    (await owner.call('GET', '/webhooks')).json.data.webhooks.map(
      ({ _id, active }: { _id: string; active: boolean }) => [_id, active],
    ),
  )
const useKey = (program: Program, licenseKey: string) => program.call('POST', '/license', { licenseKey })
const recordsOf = (ownerId: string) =>
  on.database.db
    .selectFrom('audit')
    .select(['action', 'detail'])
    .where('owner_id', '=', ownerId)
    .where('actor_kind', '=', 'operator')
    .orderBy('seq')
    .execute()

test('a disabled vendor refuses its people, keys and resellers, and works as before once it is enabled', async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  const member = await addMember(on, owner)
  const reseller = await makeReseller(on, owner, app)
  const key = await makeApiKey(on, owner)
  const invited = await invite(owner)
  const passkey = await addPasskey(on, { base: '/auth', ...owner })
  const other = await signUp(on)
  await addPerson(on, owner, other)
  const [running, paused] = [await makeWebhook(owner), await makeWebhook(owner)]
  await owner.call('PUT', `/webhooks/${paused._id}`, {
    ...{ url: 'http://127.0.0.1:65001/x', events: ['*'], active: false },
  })
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)

  expect(await json('disable', owner.email)).toEqual({
    ...{ email: owner.email, owner: owner.id, disabled: true, changed: true },
  })
  for (const call of [owner.call, member.call, reseller.call]) {
    expect(refusal(await call('GET', call === reseller.call ? '/profile' : '/auth/profile'))).toBe(
      'unauthorized',
    )
  }
  expect(refusal(await key.call('GET', '/licenses'))).toBe(disabled)
  expect(refusal(await signIn('/auth', { ...owner, password: 'wrong one' }))).toBe('invalid_credentials')
  expect(refusal(await signIn('/auth', owner))).toBe(disabled)
  expect(refusal(await signIn('/auth', member))).toBe(disabled)
  expect(refusal(await signIn('/resellers/auth', reseller))).toBe(disabled)
  expect(refusal(await passkeyLogin(on, '/auth', passkey.authenticator))).toBe(disabled)
  expect(refusal(await reset('/auth', await addLink({ account_id: member.accountId })))).toBe(disabled)
  expect(refusal(await reset('/resellers/auth', await addLink({ reseller_id: reseller._id })))).toBe(disabled)
  const accept = { body: { token: invited.token, name: 'Ada', password: 'battery staple' } }
  expect(refusal(await on.call('POST', '/auth/invitations/accept', accept))).toBe(disabled)
  const { token, user } = (await signIn('/auth', other)).json.data
  expect(user.vendor._id).toBe(other.id)
  expect(refusal(await on.call('POST', '/auth/vendor', { token, body: { _id: owner.id } }))).toBe(disabled)
  expect((await useKey(program, license.key)).status).toBe(200)

  expect(await json('disable', owner.email)).toMatchObject({ changed: false })
  expect((await json('list')).owners).toContainEqual(
    expect.objectContaining({ owner: owner.id, disabledAt: expect.any(String) }),
  )
  expect(await json('enable', owner.email)).toMatchObject({ disabled: false, changed: true })
  expect(await json('enable', owner.email)).toMatchObject({ changed: false })
  expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
  expect((await key.call('GET', '/licenses')).status).toBe(200)
  for (const [base, person] of [
    ['/auth', member],
    ['/resellers/auth', reseller],
  ] as const)
    expect((await signIn(base, person)).status).toBe(200)
  const again = (await passkeyLogin(on, '/auth', passkey.authenticator)).json.data
  const call: Owner['call'] = (method, path, body) => on.call(method, path, { token: again.token, body })
  expect(await webhooksOf({ ...owner, call })).toEqual({ [running._id]: true, [paused._id]: false })
  expect(await recordsOf(owner.id)).toEqual([
    { action: 'vendor.disabled', detail: '{"programs":false}' },
    { action: 'vendor.enabled', detail: '{}' },
  ])
})

test.each([true, false])(
  'with --programs its programs stop too, and are as before (paused: %s) afterwards',
  async (was) => {
    const owner = await signUp(on)
    const app = await makeApp(owner)
    const [license] = await makeLicenses(on, owner, app)
    const program = await startProgram(on, app)
    await owner.call('PUT', '/settings', { pauseApplications: was })
    const stopped = 'appDisabled'
    await json('disable', owner.email)
    await json('disable', owner.email, '--programs')
    expect(refusal(await useKey(program, license?.key ?? ''))).toBe(stopped)
    await json('disable', owner.email)
    await json('enable', owner.email)
    const { token } = (await signIn('/auth', owner)).json.data
    const settings = (await on.call('GET', '/settings', { token })).json.data
    expect(settings.pauseApplications).toBe(was)
  },
)

test('a session that a sign-in opened while its vendor was being disabled opens nothing', async () => {
  const owner = await signUp(on)
  await on.database.db.updateTable('owners').set({ disabled_at: 1 }).where('id', '=', owner.id).execute()
  expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
})

test('the limits of the operator replace those of the plan, hold under concurrency, and are told', async () => {
  const owner = await signUp(on)
  expect(await json('limits', owner.email)).toMatchObject({ limits: { apps: null, licensesPerApp: null } })
  expect(await json('limits', owner.email, '--apps', '2', '--licenses', '5')).toEqual({
    ...{ email: owner.email, owner: owner.id, limits: { apps: 2, licensesPerApp: 5, mails: null } },
    before: { apps: null, licensesPerApp: null, mails: null },
  })
  const apps = await Promise.all(
    Array.from({ length: 6 }, (_, n) => owner.call('POST', '/apps', { name: `App ${n}` })),
  )
  const refused = apps.filter(({ status }) => status !== 201)
  expect(refused.map(({ json: { message } }) => message)).toEqual(Array(4).fill('Your plan allows 2 apps'))
  const made = apps.find(({ status }) => status === 201)
  const body = { app: made?.json.data.app._id, count: 2, expiresAt: on.clock.inDays(30) }
  const batches = await Promise.all(Array.from({ length: 5 }, () => owner.call('POST', '/licenses', body)))
  expect(batches.filter(({ status }) => status === 201)).toHaveLength(2)
  expect(new Set(batches.flatMap((one) => (one.status === 201 ? [] : [one.json.message])))).toEqual(
    new Set(['Your plan allows 5 licenses per app']),
  )
  const { user } = (await owner.call('GET', '/auth/profile')).json.data
  expect(user).toMatchObject({ maxApps: 2, maxLicensesPerApp: 5, subscription: { appLimit: 2 } })
  await json('limits', owner.email, '--apps', '1000')
  expect((await owner.call('POST', '/apps', { name: 'More' })).status).toBe(201)
  expect(await json('limits', owner.email, '--reset')).toMatchObject({
    ...{
      limits: { apps: null, licensesPerApp: null, mails: null },
      before: { apps: 1000, licensesPerApp: 5, mails: null },
    },
  })
  expect((await recordsOf(owner.id)).map(({ action }) => action)).toEqual(Array(3).fill('vendor.limits_set'))
})

test.each([
  [['disable', 'nobody@example.com'], 'There is no owner with the email nobody@example.com.'],
  [['enable', 'nobody@example.com'], 'There is no owner with the email nobody@example.com.'],
  [['limits', 'nobody@example.com'], 'There is no owner with the email nobody@example.com.'],
  [['enable', 'a@example.com', '--programs'], 'keyward owner enable does not take this option.'],
  [['limits', 'a@example.com', '--apps', '-1'], '--apps'],
  [['limits', 'a@example.com', '--licenses', '1.5'], '--licenses takes a whole number'],
  [['limits', 'a@example.com', '--reset', '--apps', '3'], '--reset takes no other limit.'],
])('refuse %j with one line', async (args, text) => {
  const { code, stdout, stderr } = await runKeyward(on, ['owner', ...args])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(text)
})
