// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { queueReminders } from '../../src/modules/plans/reminders.service.ts'
import { type Owner, refusal, signUp } from '../actors.ts'
import { keyward } from '../command-line.ts'
import { serverForAll } from '../fixtures.ts'
import { ctxOf, type TestServer } from '../harness.ts'
import {
  buy,
  historyOf,
  type PayingServer,
  placeOrder,
  report,
  startPaying,
  subscriptionOf,
} from '../payment-actor.ts'
import { queuedMails } from '../queued-mails.ts'
import { makeReseller } from '../reseller-actor.ts'

const endless = {
  plan: 'premium',
  expiryDate: null,
  hasActiveSubscription: true,
  appLimit: null,
  licenseLimitPerApp: null,
  cancelledAt: null,
  endedAt: null,
}
const free = { plan: 'free', expiryDate: null, hasActiveSubscription: false, appLimit: 2 }
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z')

const storedEnd = async (on: TestServer, owner: Owner) => {
  const { premium_until } = await on.database.db
    .selectFrom('owners')
    .select('premium_until')
    .where('id', '=', owner.id)
    .executeTakeFirstOrThrow()
  return premium_until
}
const setEnd = (on: TestServer, owner: Owner, premium_until: number) =>
  on.database.db.updateTable('owners').set({ premium_until }).where('id', '=', owner.id).execute()
const profileOf = async (owner: Owner) => (await owner.call('GET', '/auth/profile')).json.data.user
const cancel = (owner: Owner, refund: boolean) =>
  owner.call('POST', '/payments/cancel-subscription', { refund })

async function remindersOn(server: TestServer): Promise<string[]> {
  await queueReminders(ctxOf(server))
  return (await queuedMails(server)).map(({ to }) => to)
}

describe('without a payment provider', () => {
  const on = serverForAll({ PAYMENTS: 'off' })

  test('a new owner has premium without an end and without limits, and nothing is stored', async () => {
    const owner = await signUp(on)
    expect(await subscriptionOf(owner)).toMatchObject({ ...endless, source: 'server', moneyBack: null })
    expect(await profileOf(owner)).toMatchObject({
      plan: 'premium',
      maxApps: -1,
      maxLicensesPerApp: -1,
      maxResellers: -1,
      paymentStatus: 'unpaid',
    })
    expect(await storedEnd(on, owner)).toBeNull()
  })

  test('an owner creates more apps, licenses, end users and resellers than the free plan has', async () => {
    const owner = await signUp(on)
    const names = ['Atlas', 'Borealis', 'Comet']
    const answers = []
    for (const name of names) answers.push(await owner.call('POST', '/apps', { name }))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    const { app } = answers[0]!.json.data
    const expiresAt = on.clock.inDays(30)
    const created = await owner.call('POST', '/licenses', { app: app._id, expiresAt, count: 31 })
    expect(created.status).toBe(201)
    const direct = await owner.call('POST', '/clients/create-direct', {
      username: 'user1',
      password: 'swordfish',
      appId: app.appId,
      expiresAt,
    })
    expect(direct.status).toBe(201)
    expect(await makeReseller(on, owner, app)).toBeDefined()
  })

  test('the end of an earlier plan changes nothing and sends no reminder', async () => {
    const owner = await signUp(on)
    await setEnd(on, owner, on.clock.now() + day)
    expect(await subscriptionOf(owner)).toMatchObject(endless)
    expect(await remindersOn(on)).toEqual([])
    await setEnd(on, owner, on.clock.now())
    expect(await subscriptionOf(owner)).toMatchObject(endless)
  })

  test('there is nothing to cancel', async () => {
    const owner = await signUp(on)
    await setEnd(on, owner, on.clock.now() + day)
    for (const refund of [false, true]) expect(refusal(await cancel(owner, refund))).toBe('conflict')
    expect(await subscriptionOf(owner)).toMatchObject(endless)
  })

  test('the command line lists the default plan, and taking a plan away explains that it stays', async () => {
    const owner = await signUp(on)
    const environment = { PAYMENTS: 'off' }
    const listed = await keyward(on, ['owner', 'list'], environment)
    expect(listed.stdout).toMatch(new RegExp(`^${owner.email}: Owner \\d+, premium, since`, 'm'))
    const set = await keyward(on, ['plan', owner.email, 'free'], environment)
    expect(set).toMatchObject({ code: 0, stderr: '' })
    expect(set.stdout).toBe(
      `${owner.email}: free -> free\nEvery vendor of this server has premium (DEFAULT_PLAN), so this one keeps it.\n`,
    )
    expect(await subscriptionOf(owner)).toMatchObject(endless)
  })
})

describe('with DEFAULT_PLAN=free and payments off', () => {
  const on = serverForAll({ PAYMENTS: 'off', DEFAULT_PLAN: 'free' })

  test('a new owner has the free plan with its limits', async () => {
    const owner = await signUp(on)
    expect(await subscriptionOf(owner)).toMatchObject(free)
    for (const name of ['Atlas', 'Borealis']) await owner.call('POST', '/apps', { name })
    expect(refusal(await owner.call('POST', '/apps', { name: 'Comet' }))).toBe('plan_limit_reached')
  })

  test('a grant with --forever has no end, no reminder and nothing to cancel, until the plan is set again', async () => {
    const owner = await signUp(on)
    const environment = { PAYMENTS: 'off', DEFAULT_PLAN: 'free' }
    const granted = await keyward(on, ['plan', owner.email, 'premium', '--forever'], environment)
    expect(granted).toEqual({
      code: 0,
      stderr: '',
      stdout: `${owner.email}: free -> premium without an end\n`,
    })
    expect(await storedEnd(on, owner)).toBe(lastInstant)
    expect(await subscriptionOf(owner)).toMatchObject({ ...endless, source: 'grant', moneyBack: null })
    expect(await profileOf(owner)).toMatchObject({ maxApps: -1, paymentStatus: 'unpaid' })
    expect(await remindersOn(on)).toEqual([])
    expect(refusal(await cancel(owner, false))).toBe('conflict')
    const listed = await keyward(on, ['owner', 'list'], environment)
    expect(listed.stdout).toMatch(new RegExp(`^${owner.email}: Owner \\d+, premium, since`, 'm'))

    const back = await keyward(on, ['plan', owner.email, 'free'], environment)
    expect(back.stdout).toBe(`${owner.email}: premium without an end -> free\n`)
    expect(await subscriptionOf(owner)).toMatchObject({ ...free, endedAt: null })
  })
})

describe('with payments on', () => {
  let paying: PayingServer
  beforeAll(async () => {
    paying = await startPaying()
  })
  afterAll(() => paying.close())

  const grantForever = async (owner: Owner) => {
    await setEnd(paying.on, owner, lastInstant)
  }

  test('a paid plan falls back to the default plan, which is free', async () => {
    const { on } = paying
    const owner = await signUp(on)
    await buy(paying, owner)
    expect(await subscriptionOf(owner)).toMatchObject({ plan: 'premium', expiryDate: on.clock.inDays(30) })
    await setEnd(on, owner, on.clock.now())
    expect(await subscriptionOf(owner)).toMatchObject({ ...free, endedAt: on.clock.inDays(0) })
  })

  test('sells nothing to an owner with premium without an end', async () => {
    const owner = await signUp(paying.on)
    await grantForever(owner)
    expect(refusal(await owner.call('POST', '/payments/razorpay/create-order', {}))).toBe('conflict')
    expect(await historyOf(owner)).toEqual([])
  })

  test('neither a late payment nor its refund ends premium without an end', async () => {
    const { on, provider } = paying
    const owner = await signUp(on)
    const checkout = provider.pay((await placeOrder(owner)).orderId)
    await grantForever(owner)
    expect((await report(owner, checkout)).status).toBe(200)
    const [payment] = await historyOf(owner)
    expect(payment).toMatchObject({ periodStart: on.clock.inDays(0), periodEnd: on.clock.inDays(30) })
    expect(await storedEnd(on, owner)).toBe(lastInstant)

    const cancelled = await cancel(owner, true)
    expect(cancelled.status).toBe(200)
    expect(cancelled.json.message).toBe('₹699 is being refunded.')
    expect((await historyOf(owner))[0]).toMatchObject({ status: 'refunded' })
    expect(await storedEnd(on, owner)).toBe(lastInstant)
    expect(await subscriptionOf(owner)).toMatchObject({ ...endless, moneyBack: null })
  })
})

describe('with DEFAULT_PLAN=premium and payments on', () => {
  let paying: PayingServer
  beforeAll(async () => {
    paying = await startPaying({ DEFAULT_PLAN: 'premium' })
  })
  afterAll(() => paying.close())

  test('sells nothing, because every owner has premium', async () => {
    const owner = await signUp(paying.on)
    expect(await subscriptionOf(owner)).toMatchObject(endless)
    expect(refusal(await owner.call('POST', '/payments/razorpay/create-order', {}))).toBe('conflict')
    expect((await paying.on.call('GET', '/config')).json.data.pricing).toBeNull()
  })
})
