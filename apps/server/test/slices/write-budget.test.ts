import { limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { toOwnerActor } from '../../src/core/actor.ts'
import { hour } from '../../src/core/clock.ts'
import { Attempts } from '../../src/service/attempts.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { WriteBudget } from '../../src/service/write-budget.ts'
import { makeApp, makePremium, type Owner, refusal, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll({ RATE_LIMITS: 'on' })
const { free, premium } = limits.recordBytesPerHour

const variablesOf = (round: number) =>
  Array.from({ length: 200 }, (_, at) => ({
    name: `${'n'.repeat(50)}.${round}.${at}`,
    value: '',
    public: true,
  }))

/** Replaces all variables of an app, with other names each time, until the server refuses. */
async function flood(owner: Owner, app: { _id: string }, most = 500) {
  for (let round = 0; round < most; round += 1) {
    const answer = await owner.call('PUT', `/apps/${app._id}/variables`, { variables: variablesOf(round) })
    if (answer.status !== 200) return { answer, accepted: round }
  }
  throw new Error('the server refuses nothing')
}

const account = (name: string) =>
  toOwnerActor({ accountId: name, ownerId: name, sessionId: 'ses_1', address: '127.0.0.1' })
const resellerOf = (ownerId: string, resellerId: string) =>
  ({
    kind: 'reseller',
    ownerId,
    apps: null,
    resellerId,
    appId: 'app_1',
    sessionId: 'ses_1',
    address: '',
  }) as const

const nodeOf = (bytesPerHour: number) => {
  const { clock, config, database } = on
  const ctx = { clock, config, db: database.db } as unknown as Ctx
  const onError = (error: unknown) => {
    throw error
  }
  return new WriteBudget({
    ctx,
    attempts: new Attempts(ctx),
    readBytesPerHour: async () => bytesPerHour,
    onError,
  })
}
const isRefused = async (node: WriteBudget, actor: Parameters<WriteBudget['check']>[0]) => {
  try {
    await node.check(actor)
    return false
  } catch {
    return true
  }
}

const auditOf = async (owner: Owner) => {
  const rows = await on.database.db
    .selectFrom('audit')
    .select('detail')
    .where('owner_id', '=', owner.id)
    .execute()
  return rows.reduce((sum, { detail }) => sum + (detail?.length ?? 0), 0)
}

/** An account that another node has let add nearly all bytes of its hour. */
async function spentOwner(left: number) {
  const owner = await signUp(on)
  const app = await makeApp(owner)
  const other = nodeOf(free)
  other.add(account(owner.accountId), free - left)
  await other.ended()
  return { owner, app }
}

test('a free account that replaces its variables over and over gets 429 after its bytes of the hour', async () => {
  const left = 50_000
  const { owner, app } = await spentOwner(left)
  const before = await auditOf(owner)
  const { answer, accepted } = await flood(owner, app)
  expect(refusal(answer)).toBe('rate_limited')
  expect(answer.json.message).toContain('too many changes within an hour')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(3600)
  const added = (await auditOf(owner)) - before
  // 200 names of 50 characters take 10 kB; their count and digest take less than a row does without them.
  expect(accepted).toBeGreaterThan(30)
  expect(added / accepted).toBeLessThan(400)
  expect(added).toBeLessThan(left)

  // Reads, the own account and payments go on, and so do the calls of others.
  expect((await owner.call('GET', `/apps/${app._id}/variables`)).status).toBe(200)
  const mine = { newEmail: `moved-${owner.email}`, password: owner.password }
  expect((await owner.call('PUT', '/auth/email', mine)).status).not.toBe(429)
  expect((await owner.call('POST', '/payments/validate-coupon', { code: 'NONE' })).status).not.toBe(429)
  const other = await signUp(on)
  expect((await makeApp(other)).name).toBe('Atlas')

  on.clock.advance(hour)
  expect((await owner.call('PUT', `/apps/${app._id}/variables`, { variables: [] })).status).toBe(200)
})

test('variables count as they grow, so that end users without time are no store for free', async () => {
  const { owner, app } = await spentOwner(75_000)
  const value = 'v'.repeat(15_000)
  const put = (values: string[]) =>
    owner.call('PUT', `/apps/${app._id}/variables`, {
      variables: values.map((one, at) => ({ name: `name${at}`, value: one, public: true })),
    })
  expect((await put([value, value])).status).toBe(200)
  // Values of the same size take nothing from the budget.
  for (let at = 0; at < 3; at += 1) expect((await put([value, value])).status).toBe(200)
  const grown = () => put([value, value, value, value])
  expect((await grown()).status).toBe(200)
  // An answer does not wait until the sum of all nodes is stored.
  await expect.poll(async () => (await grown()).status).toBe(429)
  const answer = await put([])
  expect(refusal(answer)).toBe('rate_limited')
  expect(answer.json.message).toContain('too many changes within an hour')
})

test('premium lifts a refusal at once', async () => {
  const { owner, app } = await spentOwner(0)
  expect(refusal((await flood(owner, app)).answer)).toBe('rate_limited')
  await makePremium(on, owner)
  expect((await owner.call('PUT', `/apps/${app._id}/variables`, { variables: [] })).status).toBe(200)
})

test('several nodes refuse an account together', async () => {
  const [first, second] = [nodeOf(free), nodeOf(free)]
  const actor = account('own_nodes')
  first.add(actor, free - 1000)
  await first.ended()
  expect(await isRefused(first, actor)).toBe(false)
  second.add(actor, 40_000)
  await second.ended()
  expect(await isRefused(second, actor)).toBe(true)
  expect(await isRefused(second, account('own_other'))).toBe(false)
})

test('a reseller that uses up its budget leaves the one of the owner and of other resellers', async () => {
  const node = nodeOf(premium)
  const [greedy, modest] = [resellerOf('own_sells', 'res_1'), resellerOf('own_sells', 'res_2')]
  node.add(greedy, premium)
  await node.ended()
  expect(await isRefused(node, greedy)).toBe(true)
  expect(await isRefused(node, modest)).toBe(false)
  expect(await isRefused(node, account('own_sells'))).toBe(false)
})

test('an account that changes little costs no further write', async () => {
  const node = nodeOf(free)
  const before = await on.database.db.selectFrom('attempts').select('key').execute()
  for (let at = 0; at < 60; at += 1) node.add(account('own_modest'), 500)
  await node.ended()
  expect(await on.database.db.selectFrom('attempts').select('key').execute()).toHaveLength(before.length)
})

test('licenses of a shop wait for their share of the hour, paid orders first', async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const buy = (number: string, amount: number) => sell(on, shop, paid(number, { amount }))
  await buy('paid-1', 1900)
  await orderOnce(owner, 'paid-1', { state: 'fulfilled' })
  const node = nodeOf(premium)
  const actor = { kind: 'shop', ownerId: owner.id, apps: null, shopId: shop._id } as const
  node.grow(actor, premium / 4)
  await node.ended()
  expect([node.waitToGrow(actor, 0.5) > 0, node.waitToGrow(actor, 1)]).toEqual([true, 0])
  expect(await isRefused(node, actor)).toBe(false)
  node.grow(actor, premium / 4)
  await node.ended()
  expect(node.waitToGrow(actor, 1)).toBeGreaterThan(0)
  on.clock.advance(hour)
  expect(node.waitToGrow(actor, 0.5)).toBe(0)
})
