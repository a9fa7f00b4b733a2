import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { hour } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { setPlan } from '../../src/modules/plans/plans.service.ts'
import { type Owner, signUp } from '../actors.ts'
import { never } from '../harness.ts'
import { type PayingServer, patientWaits, startPaying } from '../payment-actor.ts'
import { rounds } from '../rounds.ts'

let paying: PayingServer
let second: { server: FastifyInstance; database: OpenDatabase }
let hooks: string[]
beforeAll(async () => {
  paying = await startPaying()
  const { config, clock, database: first, dataDir } = paying.on
  const isShared = first.dialect === 'sqlite'
  const database = isShared ? first : openDatabase({ url: config.databaseUrl, dataDir })
  const seal = createSeal(config.secretKey ?? '')
  const consoleDir = join(dataDir, 'no-console')
  const logLevel = 'silent'
  const providerWaits = patientWaits
  const server = await buildApp({
    config,
    database,
    seal,
    clock,
    consoleDir,
    logLevel,
    providerWaits,
    reconcileAfterMs: never,
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  second = { server, database }
  hooks = [paying.on.server, server].map((node) => {
    const { port } = node.server.address() as AddressInfo
    return `http://127.0.0.1:${port}/api/payments/razorpay/webhook`
  })
})
afterEach(() => paying.provider.clearFaults())
afterAll(async () => {
  await second.server.close()
  if (second.database !== paying.on.database) await second.database.close()
  await paying.close()
})

const randomNumbers = fc.sample(fc.nat(), 5000)
let drawn = 0
const randomInt = (max: number): number => (randomNumbers[drawn++ % randomNumbers.length] ?? 0) % max
const pick = <T>(list: readonly T[]): T => list[randomInt(Math.max(1, list.length))] as T

/** Sends an owner's request to a random node. */
async function call(owner: Owner, path: string, body: object) {
  const response = await pick([paying.on.server, second.server]).inject({
    method: 'POST',
    url: `/api/payments/${path}`,
    headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  })
  expect([200, 400, 409, 502], `${path}: ${response.payload}`).toContain(response.statusCode)
  return response.json()
}

/** Delivers events to random nodes. */
async function deliver(events: PayingServer['provider']['events']) {
  const answers = events.map((event) => paying.provider.deliver(event, { url: pick(hooks) }))
  for (const { status } of await Promise.all(answers)) expect([200, 502]).toContain(status)
}

const acts: ((owner: Owner) => Promise<unknown>)[] = [
  async (owner) => {
    const planDuration = pick(['monthly', 'yearly'])
    const orderOnce = () => call(owner, 'razorpay/create-order', { planDuration })
    const [{ data }] = await Promise.all([orderOnce(), orderOnce()])
    if (!data || paying.provider.order(data.orderId).status === 'paid') return
    const deliverLast = () => deliver(paying.provider.events.slice(-3))
    const checkout = paying.provider.pay(data.orderId, { status: pick(['captured', 'authorized'] as const) })
    const verify = () => call(owner, 'razorpay/verify', checkout)
    await Promise.all([verify(), deliverLast(), verify(), paying.reconcile()])
    if (randomInt(3) === 0) {
      const status = pick(['captured', 'authorized'] as const)
      await call(owner, 'razorpay/verify', paying.provider.pay(data.orderId, { status, evenIfPaid: true }))
    }
  },
  (owner) => call(owner, 'cancel-subscription', { refund: randomInt(2) === 0 }),
  async () => {
    const payment = pick(paying.provider.payments().filter(({ status }) => status === 'captured'))
    if (!payment || payment.amount - payment.amount_refunded < 20_000) return
    const part = randomInt(2) === 0 ? { amount: 10_000 } : {}
    paying.provider.refund(payment.id, part.amount)
    await deliver(paying.provider.events.slice(-2))
  },
  async () => {
    const payment = pick(paying.provider.payments().filter(({ status }) => status === 'captured'))
    if (!payment) return
    paying.provider.closeDispute(paying.provider.dispute(payment.id).id, pick(['won', 'lost'] as const))
    await deliver(paying.provider.events.slice(-2).toReversed())
  },
  async () => {
    const mode = pick(['status', 'lost-answer', 'reset'] as const)
    paying.provider.fail({ method: pick(['GET', 'POST'] as const), mode, times: 2 })
  },
  async (owner) => {
    const { dialect, db } = second.database
    if (dialect === 'sqlite' || randomInt(4) > 0) return paying.reconcile()
    await setPlan({ db }, paying.on.clock, { email: owner.email, plan: 'premium', days: 20 })
  },
]

test('two nodes with concurrent, reordered and failing events agree with the provider', async () => {
  const owners = await Promise.all(Array.from({ length: 4 }, () => signUp(paying.on)))
  for (let round = 0; round < rounds(4, 25); round += 1) {
    await Promise.all(owners.flatMap((owner) => [pick(acts)(owner), acts[0]?.(owner)]))
    paying.on.clock.advance(hour)
  }
  paying.provider.clearFaults()
  const { events } = paying.provider
  for (let sent = 0; sent < events.length; sent += 4) await deliver(events.slice(sent, sent + 4).toReversed())
  for (let checks = 0; checks < 4; checks += 1) {
    paying.on.clock.advance(26 * hour)
    await paying.reconcile()
  }
  const { db } = paying.on.database
  const now = paying.on.clock.now()
  const rows = await db.selectFrom('payments').selectAll().execute()
  expect(rows.length).toBeGreaterThan(rounds(2, 20))
  for (const { id, status, amount, amount_refunded } of paying.provider.payments()) {
    const row = rows.find((one) => one.provider_payment_id === id)
    if (status === 'authorized' && !row) continue
    expect(row, id).toMatchObject({ status, amount_refunded })
    const lost = paying.provider.disputes().some((one) => one.payment_id === id && one.status === 'lost')
    const isKept = status === 'captured' && amount_refunded < amount && !lost
    expect(row?.dispute === 'lost').toBe(lost)
    expect(row?.refund_due).toBe(0)
    expect(isKept, JSON.stringify(row)).toBe(row?.activated_at !== null && row?.taken_back_ms === null)
  }
  const activated = rows.filter((row) => row.activated_at !== null)
  expect(new Set(activated.map(({ order_id }) => order_id)).size).toBe(activated.length)
  for (const { id } of owners) {
    const { premium_until: until } = await db
      .selectFrom('owners')
      .select('premium_until')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const periods = activated
      .filter((row) => row.owner_id === id && row.taken_back_ms === null)
      .map((row) => ({ start: row.period_start ?? 0, end: row.period_end ?? 0 }))
      .filter(({ end }) => end > now)
      .sort((one, other) => one.start - other.start)
    for (const [index, { start }] of periods.entries()) {
      expect(start).toBeGreaterThanOrEqual(periods[index - 1]?.end ?? 0)
    }
    expect(until).toBeGreaterThanOrEqual(periods.at(-1)?.end ?? 0)
    if (second.database.dialect === 'sqlite' && periods.length > 0) expect(until).toBe(periods.at(-1)?.end)
  }
})
