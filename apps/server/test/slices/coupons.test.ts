import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CouponRow } from '../../src/db/tables.ts'
import { type Owner, refusal, signUp, single, wrongFields } from '../actors.ts'
import { keyward } from '../command-line.ts'
import { startServer } from '../harness.ts'
import { historyOf, type PayingServer, placeOrder, report, startPaying } from '../payment-actor.ts'

let paying: PayingServer
let on: PayingServer['on']
let provider: PayingServer['provider']
beforeAll(async () => {
  paying = await startPaying()
  ;({ on, provider } = paying)
})
afterAll(() => paying.close())

const validate = (owner: Owner, couponCode: unknown) =>
  owner.call('POST', '/payments/validate-coupon', { couponCode })
const order = (owner: Owner, couponCode: string, planDuration = 'monthly') =>
  owner.call('POST', '/payments/razorpay/create-order', { planDuration, couponCode })
const make = (code: string, terms: Partial<CouponRow>) =>
  on.database.db
    .insertInto('coupons')
    .values({
      code,
      percent: 50,
      valid_from: null,
      valid_until: null,
      max_uses: null,
      max_uses_per_owner: null,
      ...terms,
    })
    .execute()

test.each([
  ['SAVE10', 10],
  ['SAVE20', 20],
  ['SAVE25', 25],
  ['WELCOME', 15],
  ['LAUNCH', 30],
])('seeds %s with %i percent', async (code, percent) => {
  const owner = await signUp(on)
  const { status, json } = await validate(owner, ` ${code.toLowerCase()} `)
  expect(status).toBe(200)
  expect(json.message).toBe(`${code}: ${percent}% off`)
  expect(json.data).toMatchObject({
    couponCode: code,
    discount: percent,
    totals: {
      monthly: { amount: Math.floor((69_900 * (100 - percent)) / 100) },
      yearly: { amount: Math.floor((119_900 * (100 - percent)) / 100) },
    },
  })
})

test('offers listed coupons only to owners who can use them', async () => {
  const owner = await signUp(on)
  const offered = async (buyer = owner) => (await buyer.call('GET', '/payments/pricing')).json.data.coupons
  const seeded = [
    { couponCode: 'LAUNCH', discount: 30 },
    { couponCode: 'SAVE25', discount: 25 },
    { couponCode: 'SAVE20', discount: 20 },
    { couponCode: 'WELCOME', discount: 15 },
    { couponCode: 'SAVE10', discount: 10 },
  ]
  await make('HIDDEN', {})
  expect(await offered()).toEqual(seeded)
  await make('SHOWN', { listed: 1, max_uses_per_owner: 1 })
  expect(await offered()).toEqual([{ couponCode: 'SHOWN', discount: 50 }, ...seeded])
  await report(owner, provider.pay((await placeOrder(owner, { couponCode: 'SHOWN' })).orderId))
  expect(await offered()).toEqual(seeded)
  expect((await offered(await signUp(on)))[0]).toEqual({ couponCode: 'SHOWN', discount: 50 })
})

test('rejects a blank and a malformed code on the field, and an unknown code with its text', async () => {
  const owner = await signUp(on)
  const blank = await validate(owner, '  ')
  expect(wrongFields(blank)).toEqual(['couponCode'])
  expect(blank.json.message).toBe('Please enter a coupon code')
  for (const wrong of [null, 7, "x' or 1=1", 'é']) {
    expect(refusal(await validate(owner, wrong))).toBe('invalid_input')
  }
  const unknown = await validate(owner, 'NOTHING')
  expect(refusal(unknown)).toBe('invalid_coupon')
  expect(unknown.json.message).toBe('Invalid coupon code')
  expect(refusal(await order(owner, 'NOTHING'))).toBe('invalid_coupon')
})

test('is valid only between its dates', async () => {
  const owner = await signUp(on)
  await make('SEASON', { valid_from: on.clock.now() + 1000, valid_until: on.clock.now() + 2000 })
  expect((await validate(owner, 'SEASON')).json.message).toBe('Invalid coupon code')
  on.clock.advance(1000)
  expect((await validate(owner, 'SEASON')).status).toBe(200)
  on.clock.advance(1000)
  expect((await validate(owner, 'SEASON')).json.message).toBe('This coupon has expired')
  expect(refusal(await order(owner, 'SEASON'))).toBe('invalid_coupon')
})

test('concurrent orders use a coupon at most as often as it allows', async () => {
  await make('THREE', { max_uses: 3 })
  const owners = await Promise.all(Array.from({ length: 12 }, () => signUp(on)))
  const answers = await Promise.all(owners.map((owner) => order(owner, 'THREE')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(refusal(answer)).toBe('invalid_coupon')
    expect(answer.json.message).toBe('This coupon has been used up')
  }
})

test('an order reserves its use until it expires; a late payment still counts', async () => {
  await make('ONLY1', { max_uses: 1 })
  const [first, second] = [await signUp(on), await signUp(on)]
  const held = await placeOrder(first, { couponCode: 'ONLY1' })
  expect((await placeOrder(first, { couponCode: 'ONLY1' })).orderId).toBe(held.orderId)
  expect((await validate(first, 'ONLY1')).status).toBe(200)
  expect(refusal(await order(second, 'ONLY1'))).toBe('invalid_coupon')
  on.clock.advance(15 * 60_000)
  const other = await placeOrder(second, { couponCode: 'ONLY1' })
  for (const [owner, { orderId }] of [
    [first, held],
    [second, other],
  ] as const) {
    expect((await report(owner, provider.pay(orderId))).status).toBe(200)
    expect(single(await historyOf(owner))).toMatchObject({
      amount: 34_950,
      couponCode: 'ONLY1',
      discount: 50,
      listAmount: 69_900,
    })
  }
})

test('a limit of one use per owner holds across plans', async () => {
  await make('ONCE', { max_uses_per_owner: 1 })
  const owner = await signUp(on)
  const monthly = await placeOrder(owner, { couponCode: 'ONCE' })
  const yearly = await order(owner, 'ONCE', 'yearly')
  expect(refusal(yearly)).toBe('invalid_coupon')
  expect(yearly.json.message).toBe(
    'Your open monthly order holds this coupon. Finish it, or try again in 15 min.',
  )
  await report(owner, provider.pay(monthly.orderId))
  expect((await order(owner, 'ONCE')).json.message).toBe('You have used this coupon already')
  expect((await validate(owner, 'ONCE')).json.message).toBe('You have used this coupon already')
  expect((await order(await signUp(on), 'ONCE')).status).toBe(200)
})

test('ending a coupon keeps the price of orders that hold it', async () => {
  await make('ENDING', {})
  const owner = await signUp(on)
  const { orderId } = await placeOrder(owner, { couponCode: 'ENDING' })
  await on.database.db.updateTable('coupons').set({ active: 0 }).where('code', '=', 'ENDING').execute()
  expect((await placeOrder(owner, { couponCode: 'ENDING' })).orderId).toBe(orderId)
  expect(refusal(await order(owner, 'ENDING', 'yearly'))).toBe('invalid_coupon')
  expect((await report(owner, provider.pay(orderId))).status).toBe(200)
})

test('rejects a coupon that lowers the price below the minimum charge', async () => {
  const cheap = await startPaying({ PRICE_MONTHLY: '1' })
  try {
    const owner = await signUp(cheap.on)
    expect(refusal(await order(owner, 'SAVE10'))).toBe('invalid_coupon')
    expect(await placeOrder(owner)).toMatchObject({ amount: 100 })
  } finally {
    await cheap.close()
  }
})

test('limits guesses of coupon codes', async () => {
  const limited = await startServer({ RATE_LIMITS: 'on' })
  try {
    const owner = await signUp(limited)
    for (let guess = 0; guess < 30; guess += 1) {
      expect(refusal(await validate(owner, `GUESS${guess}`))).toBe('invalid_coupon')
    }
    const stopped = await validate(owner, 'SAVE10')
    expect(refusal(stopped)).toBe('rate_limited')
    expect(Number(stopped.headers['retry-after'])).toBeGreaterThan(0)
    expect(refusal(await order(owner, 'SAVE10'))).toBe('rate_limited')
    expect((await validate(await signUp(limited), 'SAVE10')).status).toBe(200)
  } finally {
    await limited.close()
  }
})

describe('the command line', () => {
  const coupon = (...args: string[]) => keyward(on, ['coupon', ...args])

  test('creates, changes, lists and ends coupons while the server runs', async () => {
    const owner = await signUp(on)
    const made = await coupon('set', 'spring', '--percent', '40', '--uses', '2', '--until', '2099-01-31')
    expect(made).toEqual({
      code: 0,
      stderr: '',
      stdout: 'SPRING: 40% off, until 2099-01-31T23:59:59.999Z, used 0 of 2 times\n',
    })
    expect(await placeOrder(owner, { couponCode: 'SPRING' })).toMatchObject({ amount: 41_940 })
    const changed = await coupon('set', 'SPRING', '--percent', '5', '--uses-per-owner', '1', '--listed')
    expect(changed.stdout).toContain('SPRING: 5% off, shown to every vendor, used 0 times')
    expect(changed.stdout).toContain('at most 1 for each owner')
    expect((await coupon('end', 'SPRING')).stdout).toContain('SPRING: 5% off, ended')
    expect(refusal(await validate(owner, 'SPRING'))).toBe('invalid_coupon')
    const list = (await coupon('list')).stdout
    for (const code of ['SAVE10', 'SAVE20', 'SAVE25', 'WELCOME', 'LAUNCH', 'SPRING']) {
      expect(list).toContain(`${code}: `)
    }
  })

  test.each([
    ['no percent', ['set', 'X'], 'requires --percent'],
    ['too many percent', ['set', 'X', '--percent', '100'], '--percent takes a whole number from 1 to 99'],
    ['a fraction', ['set', 'X', '--percent', '2.5'], '--percent takes'],
    ['a negative number', ['set', 'X', '--percent', '5', '--uses=-1'], '--uses takes'],
    ['a wrong date', ['set', 'X', '--percent', '5', '--until', 'soon'], '--until takes a date'],
    [
      'dates in the wrong order',
      ['set', 'X', '--percent', '5', '--from', '2027-02-01', '--until', '2027-01-01'],
      'before',
    ],
    ['a code that cannot be typed', ['set', 'ä', '--percent', '5'], 'A code has'],
    ['an unknown code', ['end', 'NOSUCH'], 'There is no coupon NOSUCH'],
    ['options of another command', ['list', '--days', '3'], 'coupon does not take this option'],
    ['options of another action', ['end', 'SAVE10', '--percent', '3'], 'Only coupon set takes options'],
    ['an unknown action', ['fly'], 'coupon set <code>'],
  ])('explains %s and exits with 1', async (_name, args, text) => {
    const ended = await coupon(...args)
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toContain(text)
    expect(ended.stderr).not.toContain('    at ')
  })
})
