// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makePremium, signUp } from '../actors.ts'
import { keyward as runKeyward } from '../command-line.ts'
import { serverForAll } from '../fixtures.ts'

const day = 86_400_000
const on = serverForAll()

const keyward = (args: string[], environment?: Record<string, string>) => runKeyward(on, args, environment)

test('lists prices in paise and as formatted rupees, with yearly savings against twelve months', async () => {
  const owner = await signUp(on)
  const { status, json } = await owner.call('GET', '/payments/pricing')
  expect(status).toBe(200)
  const { free, premium, premium_monthly, premium_yearly } = json.data.plans
  expect(free).toMatchObject({ name: 'Free', amount: 0, priceFormatted: '₹0' })
  expect(premium).toMatchObject({ name: 'Premium', amount: 69_900, priceFormatted: '₹699' })
  expect(premium_monthly).toEqual({
    amount: 69_900,
    currency: 'INR',
    priceFormatted: '₹699',
    planDuration: 'monthly',
    days: 30,
  })
  expect(premium_yearly).toEqual({
    amount: 119_900,
    currency: 'INR',
    priceFormatted: '₹1,199',
    planDuration: 'yearly',
    days: 365,
    savings: { amount: 718_900, amountFormatted: '₹7,189', percentage: 86 },
  })
})

test('shows visitors the same prices as owners', async () => {
  const owner = await signUp(on)
  const { plans } = (await owner.call('GET', '/payments/pricing')).json.data
  const config = await on.call('GET', '/config')
  expect(config.json.data.pricing).toEqual(plans)
})

test('lists the plans with their limits', async () => {
  const owner = await signUp(on)
  const { plans } = (await owner.call('GET', '/plans')).json.data
  expect(plans.map((plan: { name: string }) => plan.name)).toEqual(['Free', 'Premium'])
  expect(plans[0].limits).toEqual({ maxApps: 2, maxLicensesPerApp: 30, maxResellers: 0 })
  expect(plans[1].limits).toEqual({ maxApps: -1, maxLicensesPerApp: -1, maxResellers: -1 })
})

test('the subscription returns to free when premium ends', async () => {
  const owner = await signUp(on)
  const subscription = async () => (await owner.call('GET', '/subscription')).json.data.subscription
  const none = {
    subscriptionId: null,
    orderId: null,
    paymentId: null,
    cancelledAt: null,
    endedAt: null,
    moneyBack: null,
  }
  const free = {
    ...none,
    plan: 'free',
    expiryDate: null,
    hasActiveSubscription: false,
    source: null,
    appLimit: 2,
    licenseLimitPerApp: 30,
  }
  expect(await subscription()).toEqual(free)
  await makePremium(on, owner)
  expect(await subscription()).toEqual({
    ...none,
    plan: 'premium',
    expiryDate: on.clock.inDays(365),
    hasActiveSubscription: true,
    source: 'grant',
    appLimit: null,
    licenseLimitPerApp: null,
  })
  await on.database.db
    .updateTable('owners')
    .set({ premium_until: on.clock.now() })
    .where('id', '=', owner.id)
    .execute()
  expect(await subscription()).toEqual({ ...free, endedAt: on.clock.inDays(0) })
})

test('an operator switches an owner to premium and back while the server runs', async () => {
  const owner = await signUp(on)
  const made = await keyward(['plan', owner.email.toUpperCase(), 'premium', '--days', '7'])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toMatch(
    new RegExp(`^${owner.email}: free -> premium until \\d{4}-\\d\\d-\\d\\dT.*Z\\n$`),
  )
  const { subscription } = (await owner.call('GET', '/subscription')).json.data
  expect(subscription.plan).toBe('premium')
  expect(Math.abs(Date.parse(subscription.expiryDate) - (Date.now() + 7 * day))).toBeLessThan(60_000)

  const year = await keyward(['plan', owner.email, 'premium'])
  expect(
    Math.abs(Date.parse(/([^ ]+)\n$/.exec(year.stdout)?.[1] ?? '') - (Date.now() + 365 * day)),
  ).toBeLessThan(60_000)

  const back = await keyward(['plan', owner.email, 'free'])
  expect(back.stdout).toMatch(/-> free\n$/)
  expect((await owner.call('GET', '/subscription')).json.data.subscription.plan).toBe('free')
  const entries = await on.database.db
    .selectFrom('audit')
    .select(['actor_kind', 'action'])
    .where('owner_id', '=', owner.id)
    .where('action', '=', 'plan.set')
    .execute()
  expect(entries).toEqual(Array(3).fill({ actor_kind: 'operator', action: 'plan.set' }))
})

test.each([
  [
    'an unknown email',
    ['plan', 'nobody@example.com', 'premium'],
    'no account with the email nobody@example.com',
  ],
  ['an unknown plan', ['plan', 'nobody@example.com', 'gold'], 'premium|free'],
  ['no days', ['plan', 'nobody@example.com', 'premium', '--days', '0'], '--days takes a whole number'],
  [
    'days of the free plan',
    ['plan', 'nobody@example.com', 'free', '--days', '3'],
    '--days is only for premium',
  ],
  [
    'a free plan without an end',
    ['plan', 'nobody@example.com', 'free', '--forever'],
    '--forever is only for premium',
  ],
  [
    'both a number of days and no end',
    ['plan', 'nobody@example.com', 'premium', '--forever', '--days', '3'],
    '--days or --forever',
  ],
  ['no end of a coupon', ['coupon', 'list', '--forever'], 'coupon does not take this option'],
  ['an unknown command', ['fly'], 'no command fly'],
  ['an unknown option', ['plan', '--fast'], '--fast'],
])('the command line explains %s and exits with 1', async (_name, args, text) => {
  const ended = await keyward(args)
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toContain(text)
  expect(ended.stderr).not.toContain('    at ')
})

test('creates no database in an empty directory', async () => {
  const ended = await keyward(['plan', 'nobody@example.com', 'free'], {
    DATABASE_URL: '',
    DATA_DIR: '/nowhere/at/all',
  })
  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain('There is no database in /nowhere/at/all')
})

test('help lists the commands, their options and how the database is found', async () => {
  const { code, stdout } = await keyward(['--help'])
  expect(code).toBe(0)
  for (const text of [
    'keyward plan <email> premium',
    'keyward coupon set',
    '--days N',
    '--forever',
    '365',
    'DATABASE_URL',
    'DATA_DIR',
  ]) {
    expect(stdout).toContain(text)
  }
})
