// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { acceptsIdempotencyKey } from '@keyward/contract'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createSeal } from '../../src/core/crypto.ts'
import { allEndpoints } from '../../src/http/openapi.ts'
import { refusal } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { factorRecipes } from '../recipes/factors.ts'
import { otherRecipes } from '../recipes/others.ts'
import { ownerRecipes } from '../recipes/owners.ts'
import { type Recipes, recipeOf } from '../recipes/world.ts'
import { makeReseller } from '../reseller-actor.ts'
import { someOf } from '../rounds.ts'

const seal = createSeal('a secret key that only tests use, 32+ characters')
/** While it is set, the server cannot store an answer, as if it had been killed before that. */
let answersFail = false
/** While it is set, the first transaction is undone, as if the server had been killed in it. */
let firstFails = false
const failing = (plain: string, context: string) => {
  if (firstFails && context.startsWith('idempotency_keys.results')) throw new Error('killed')
  if (answersFail && context.startsWith('idempotency_keys.answer')) throw new Error('killed')
  return seal.seal(plain, context)
}
const on = serverForAll(
  {},
  {
    seal: { ...seal, seal: failing },
    deliversWebhooks: false,
    runsImports: false,
  },
)
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const recipes: Recipes = {
  ...ownerRecipes({ on, owner, app }),
  ...otherRecipes({ on, owner, app }),
  ...factorRecipes({ on, owner, app }),
  // The licenses of this one are released in slices.
  'resellers.remove': [
    'owner',
    [],
    async () => {
      const { _id, call } = await makeReseller(on, owner, app, 200)
      const made = await call('POST', '/licenses', { count: 101, expiresAt: on.clock.inDays(30) })
      expect(made.status).toBe(201)
      return () => owner.call('DELETE', `/resellers/${_id}`)
    },
  ],
  'payments.validateCoupon': [
    'owner',
    [],
    async () => () => owner.call('POST', '/payments/validate-coupon', { couponCode: 'SAVE10' }),
  ],
}
afterEach(async () => {
  answersFail = false
  firstFails = false
  await on.database.db.deleteFrom('idempotency_keys').execute()
})

const isSignedIn = ({ access, method }: (typeof allEndpoints)[number]['endpoint']) =>
  (access === 'owner' || access === 'reseller') && method !== 'GET'
const writes = allEndpoints.filter(({ endpoint }) => isSignedIn(endpoint))
const namesOf = (calls: typeof writes) => calls.map(({ name }) => name)
const accepting = namesOf(writes.filter(({ endpoint }) => acceptsIdempotencyKey(endpoint)))
const others = namesOf(writes.filter(({ endpoint }) => !acceptsIdempotencyKey(endpoint)))

/** Prepares a call, which is then sent with the key each time. */
async function prepare(name: string, key: string): Promise<() => Promise<Answer>> {
  const call = await recipeOf(recipes, name)[2]()
  return async () => {
    const plain = on.call
    on.call = (method, path, options = {}) =>
      plain(method, path, { ...options, headers: { 'idempotency-key': key } })
    try {
      return await call()
    } finally {
      on.call = plain
    }
  }
}

/** Columns that background workers change after a call: retries of waiting orders, and the next scan of an app for licenses that end. */
const changedLater: Record<string, object> = {
  shop_events: { attempts: 0, due_at: 0 },
  customer_mail_settings: { look_at: 0 },
}

/** What a shop told is used, and mails are sent, after the call that caused them. */
const allTried = () =>
  eventually(async () => {
    const told = on.database.db.selectFrom('customer_mails').select('id').where('state', '=', 'waiting')
    expect(await told.execute()).toEqual([])
    const mails = on.database.db.selectFrom('mails').select('id').where('due_at', 'is not', null)
    expect(await mails.execute()).toEqual([])
    const events = on.database.db.selectFrom('shop_events').select('seq').where('attempts', '=', 0)
    expect(await events.where('due_at', 'is not', null).where('state', '=', 'waiting').execute()).toEqual([])
    const running = on.database.db.selectFrom('shop_events').select('seq').where('order_id', 'is', null)
    expect(await running.where('due_at', 'is not', null).execute()).toEqual([])
  })

/** The keys, and what is counted or noted about each request, are not compared. PostgreSQL lists its tables slowly. */
let kept: string[] = []
beforeAll(async () => {
  const tables = await on.database.db.introspection.getTables()
  kept = tables
    .map(({ name }) => name)
    .filter((name) => !/^(idempotency_keys|attempts|app_sdks|activity.*|.*search.*|sqlite_.*)$/.test(name))
    .sort()
})

/** Everything else that is stored. */
async function snapshot(): Promise<string> {
  const { db } = on.database
  await allTried()
  const rows = await Promise.all(
    kept.map(async (name) => {
      const found = await db
        .selectFrom(name as 'audit')
        .selectAll()
        .execute()
      return `${name}\n${found
        .map((row) => JSON.stringify({ ...row, ...changedLater[name] }))
        .sort()
        .join('\n')}`
    }),
  )
  return rows.join('\n\n')
}

const keysOf = async (runner: 'answered' | 'interrupted') =>
  (
    await on.database.db
      .selectFrom('idempotency_keys')
      .select('id')
      .where('runner', runner === 'answered' ? 'is' : 'is not', null)
      .execute()
  ).length

/** These change nothing of the account, or nothing in a transaction of the caller. */
const withoutSteps = ['payments.validateCoupon', 'payments.verify', 'payments.createOrder']

/** These have several transactions, and can be sent again with another key. */
const inSeveral = [
  'apps.remove',
  'customers.remove',
  'exposure.notify',
  'licenseTypes.update',
  'licenses.removeAll',
  'portal.removeLicenses',
  'resellers.remove',
  'shops.remove',
  'shops.update',
]

/** The repeat of a call that takes away the caller's right to it. */
const handsOver = ['members.makeOwner']

function expectRepeat(name: string, first: Answer, repeated: Answer): void {
  if (handsOver.includes(name)) {
    expect(refusal(repeated)).toBe('permission_missing')
    return
  }
  expect([repeated.status, repeated.json]).toEqual([first.status, first.json])
  expect(repeated.headers['idempotent-replay']).toBe('true')
}

test.each(accepting)('%s changes data once, and a repeat gets its answer', async (name) => {
  const call = await prepare(name, `twice-${name}`)
  const before = await snapshot()
  const first = await call()
  expect(first.json).toMatchObject({ success: true })
  expect(first.headers['idempotent-replay']).toBeUndefined()
  const after = await snapshot()
  if (name !== 'payments.validateCoupon') expect(after).not.toBe(before)
  expectRepeat(name, first, await call())
  expect(await snapshot()).toBe(after)
})

test.each(someOf(accepting, 8))('%s, killed before its answer is stored, is not done again', async (name) => {
  const call = await prepare(name, `killed-${name}`)
  answersFail = true
  const first = await call()
  expect(first.json).toMatchObject({ success: true })
  expect(await keysOf('interrupted')).toBe(withoutSteps.includes(name) ? 0 : 1)
  const after = await snapshot()
  answersFail = false
  const repeated = await call()
  if (inSeveral.includes(name)) expect(refusal(repeated)).toBe('request_interrupted')
  // Without steps it is done again, which changes nothing, and only the next repeat has a stored answer.
  else if (withoutSteps.includes(name)) expect(repeated.json).toEqual(first.json)
  else expectRepeat(name, first, repeated)
  expect(await snapshot()).toBe(after)
  if (inSeveral.includes(name)) return
  expect(await keysOf('interrupted')).toBe(handsOver.includes(name) ? 1 : 0)
  expectRepeat(name, first, await call())
})

const withSteps = accepting.filter((name) => !withoutSteps.includes(name))

test.each(someOf(withSteps, 8))('%s, killed in its first transaction, is done by a repeat', async (name) => {
  const call = await prepare(name, `killed-first-${name}`)
  const before = await snapshot()
  firstFails = true
  expect(refusal(await call())).toBe('internal')
  expect(await snapshot()).toBe(before)
  firstFails = false
  const repeated = await call()
  expect(repeated.json).toMatchObject({ success: true })
  expect(repeated.headers['idempotent-replay']).toBeUndefined()
})

// Calls without a recipe record nothing; they only begin something that another call completes.
const recorded = others.filter((name) => name in recipes)

test.each(recorded)('%s ignores an Idempotency-Key', async (name) => {
  const first = await (await prepare(name, `ignored-${name}`))()
  expect(first.json).toMatchObject({ success: true })
  expect(first.headers['idempotent-replay']).toBeUndefined()
  expect(await keysOf('interrupted')).toBe(0)
  expect(await keysOf('answered')).toBe(0)
})

test('outside of the own account, only the reset and calls that return a secret or a link accept no key', () => {
  const outside = writes.filter(({ endpoint }) => !/^\/(resellers\/)?auth\//.test(endpoint.path))
  const found = namesOf(outside.filter(({ endpoint }) => !acceptsIdempotencyKey(endpoint)))
  const known = [
    'apiKeys.create',
    'apps.rotateSecret',
    'compatibility.update',
    'lazyMove.update',
    'members.invite',
    'resellers.create',
    'settings.reset',
    'webhooks.create',
    'webhooks.rotateSecret',
  ]
  expect(found.filter((name) => !known.includes(name))).toEqual([])
  expect(accepting.filter((name) => name.startsWith('portal.'))).toEqual([
    'portal.updateLicense',
    'portal.createLicenses',
    'portal.removeLicenses',
  ])
})

test('no call that accepts a key returns a secret, except that of an app, which can be read at any time', () => {
  const secret = /secret|password"|token|recovery/i
  const found = writes.flatMap(({ name, endpoint }) => {
    if (!acceptsIdempotencyKey(endpoint)) return []
    const names = JSON.stringify(z.toJSONSchema(endpoint.data)).match(/"(\w+)":\{/g) ?? []
    return [...new Set(names.filter((field) => secret.test(field)))].map((field) => [name, field])
  })
  expect(found).toEqual([
    ['apps.create', '"appSecret":{'],
    ['apps.update', '"appSecret":{'],
  ])
})
