import { expect, test } from 'vitest'
import { type PersonActor, permissionsOf, toPersonActor, type VendorActor } from '../../src/core/actor.ts'
import { problem } from '../../src/core/problem.ts'
import { modules } from '../../src/modules/index.ts'
import { deleteAllLicenses } from '../../src/modules/licenses/licenses.service.ts'
import { deleteApp } from '../../src/modules/platform/apps-overview.service.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { type Answer, doOnce } from '../../src/service/idempotency.ts'
import { makeApp, makeLicenses } from '../actors.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'
import { recount } from '../recount.ts'

// These requests are interrupted between their transactions, where no HTTP request could be.

const on = serverForAll()
const owner = premiumOwnerForAll(on)

interface Sender {
  role?: PersonActor['role']
  apps?: readonly string[] | null
  ownerId?: string
}

const actorOf = ({ role = 'owner', apps = null, ownerId = owner.id }: Sender = {}): VendorActor =>
  toPersonActor(
    { role, permissions: permissionsOf(role), apps: apps && new Set(apps) },
    { accountId: owner.id, ownerId, sessionId: 'ses_1', address: '192.0.2.1' },
  )

/** Its transactions wait for `before`, which receives their numbers from 1. */
function contextWith(before: (transaction: number) => Promise<void> = async () => {}): Ctx {
  const { clock, config, database, seal } = on
  const transact = transactionsOn(database, clock)
  let transactions = 0
  const tx: Ctx['tx'] = async (actor, work, options) => {
    if (actor.kind !== 'system') {
      transactions += 1
      await before(transactions)
    }
    return transact(actor, work, options)
  }
  return { clock, config, database, db: database.db, seal, tx } as Partial<Ctx> as Ctx
}

let keys = 0
const newKey = () => `interrupted-${++keys}`

const once = (ctx: Ctx, key: string, actor: VendorActor, work: (actor: VendorActor) => Promise<Answer>) =>
  doOnce(ctx, actor, { key, request: 'the same' }, work, (error) => {
    throw error
  })

const killed = new Error('killed')
const killAt = (at: number) => async (transaction: number) => {
  if (transaction === at) throw killed
}
const total = async (app: { _id: string }): Promise<number> =>
  (await owner.call('GET', `/licenses?app=${app._id}&limit=1`)).json.data.stats.total
const records = async (action: string, target: string) =>
  (
    await on.database.db
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', action)
      .where('target_id', '=', target)
      .execute()
  ).map(({ detail }) => JSON.parse(detail ?? 'null'))

test('a deletion that was cut between its slices says so, and another key deletes the rest', async () => {
  const app = await makeApp(owner)
  for (let made = 0; made < 3; made += 1) await makeLicenses(on, owner, app, 100)
  const [key, actor] = [newKey(), actorOf()]
  const work = (ctx: Ctx) => async (as: VendorActor) => ({ data: await deleteAllLicenses(ctx, as, app._id) })
  const cut = contextWith(killAt(3))
  await expect(once(cut, key, actor, work(cut))).rejects.toBe(killed)
  const left = await total(app)
  expect(left).toBeLessThan(300)
  expect(left).toBeGreaterThan(0)
  const ctx = contextWith()
  await expect(once(ctx, key, actor, work(ctx))).rejects.toMatchObject({ code: 'request_interrupted' })
  expect(await total(app)).toBe(left)
  expect(await once(ctx, newKey(), actor, work(ctx))).toEqual({ answer: { data: left }, isRepeat: false })
  expect(await total(app)).toBe(0)
  const sliced = (await records('licenses.slice_deleted', app._id)).map(({ count }) => count as number)
  expect(sliced.reduce((sum, count) => sum + count, 0)).toBe(300)
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

test('the deletion of an app that is cut before any of its transactions goes on with another key', async () => {
  const app = await makeApp(owner)
  await makeLicenses(on, owner, app, 30)
  const actor = actorOf()
  const work = (ctx: Ctx) => async (as: VendorActor) => ({
    data: await deleteApp({ ctx, modules }, as, app._id),
  })
  const whole = contextWith()
  let cuts = 0
  for (let isDone = false; !isDone; cuts += 1) {
    // Each run begins anew and gets one transaction further than the one before.
    const [ctx, key] = [contextWith(killAt(cuts + 2)), newKey()]
    isDone = await once(ctx, key, actor, work(ctx)).then(
      () => true,
      (error) => {
        expect(error).toBe(killed)
        return false
      },
    )
    if (!isDone)
      await expect(once(whole, key, actor, work(whole))).rejects.toMatchObject({
        code: 'request_interrupted',
      })
  }
  expect(cuts).toBeGreaterThan(5)
  expect(await records('app.deleted', app._id)).toHaveLength(1)
})

/** A request whose transactions each record something about an app. */
const recording = (
  ctx: Ctx,
  app: { _id: string },
  transactions = 1,
  afterFirst: () => Promise<void> = async () => {},
) => {
  const record = (actor: VendorActor) =>
    ctx.tx(actor, async (write) => {
      write.record('app.deletion_started', app._id, { name: 'Atlas' }, app._id)
      return write.now
    })
  return async (actor: VendorActor) => {
    const data = [await record(actor)]
    await afterFirst()
    while (data.length < transactions) data.push(await record(actor))
    return { data }
  }
}

test('says so if a request was cut after its first changes or cannot go on, and changes nothing', async () => {
  const [app, ctx] = [await makeApp(owner), contextWith()]
  const die = async () => {
    throw killed
  }
  const refused = async () => {
    throw problem('not_found')
  }
  for (const repeat of [recording(ctx, app, 2), refused]) {
    const key = newKey()
    await expect(once(ctx, key, actorOf(), recording(ctx, app, 2, die))).rejects.toBe(killed)
    await expect(once(ctx, key, actorOf(), repeat)).rejects.toMatchObject({ code: 'request_interrupted' })
  }
  await expect(once(ctx, newKey(), actorOf(), refused)).rejects.toMatchObject({ code: 'not_found' })
  expect(await records('app.deletion_started', app._id)).toHaveLength(2)
})

test.each([
  ['a role', { role: 'manager' }, { role: 'support' }, 'permission_missing'],
  [
    'an app',
    { role: 'manager', apps: ['app_1', 'app_2'] },
    { role: 'manager', apps: ['app_2'] },
    'not_found',
  ],
  ['all apps', { role: 'manager' }, { role: 'manager', apps: ['app_1'] }, 'not_found'],
] as const)(
  'who has lost %s since gets neither the answer nor what was interrupted',
  async (_, before, after, code) => {
    const app = await makeApp(owner)
    const ctx = contextWith()
    for (const between of [
      async () => {},
      async () => {
        throw killed
      },
    ]) {
      const key = newKey()
      await once(ctx, key, actorOf(before), recording(ctx, app, 1, between)).catch(() => {})
      const count = (await records('app.deletion_started', app._id)).length
      await expect(once(ctx, key, actorOf(after), recording(ctx, app))).rejects.toMatchObject({ code })
      expect(await records('app.deletion_started', app._id)).toHaveLength(count)
      expect((await once(ctx, key, actorOf(before), recording(ctx, app))).isRepeat).toBe(true)
    }
  },
)

test('who has got more rights since gets the answer', async () => {
  const [app, key, ctx] = [await makeApp(owner), newKey(), contextWith()]
  const first = await once(ctx, key, actorOf({ role: 'support', apps: [app._id] }), recording(ctx, app))
  const repeated = await once(ctx, key, actorOf({ role: 'manager' }), recording(ctx, app))
  expect(repeated).toEqual({ answer: first.answer, isRepeat: true })
})

test('a key of a person at one vendor is refused at another', async () => {
  const [app, key, ctx] = [await makeApp(owner), newKey(), contextWith()]
  await once(ctx, key, actorOf(), recording(ctx, app))
  const elsewhere = actorOf({ role: 'manager', ownerId: 'own_other' })
  await expect(once(ctx, key, elsewhere, recording(ctx, app))).rejects.toMatchObject({
    code: 'idempotency_key_used',
  })
})
