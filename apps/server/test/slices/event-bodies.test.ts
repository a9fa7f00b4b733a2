// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  actions,
  type DeliveredName,
  eventFacts,
  eventNames,
  isEventName,
  isLogged,
  type Permission,
  permissions,
  testEvent,
} from '@keyward/contract'
import { beforeAll, expect, test } from 'vitest'
import { fillEvents, readExamples } from '../../../../packages/sdk/events-page.ts'
import { toOwnerActor, type VendorActor } from '../../src/core/actor.ts'
import { newId } from '../../src/core/ids.ts'
import type { ActionRecord } from '../../src/db/index.ts'
import { toStoredDetail } from '../../src/db/record-rows.ts'
import { modules } from '../../src/modules/index.ts'
import { type QueuedEvent, toBody } from '../../src/modules/webhooks/webhooks.body.ts'
import { activateKey } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { furtherRecipes } from '../recipes/events.ts'
import { factorRecipes } from '../recipes/factors.ts'
import { otherRecipes } from '../recipes/others.ts'
import { ownerRecipes } from '../recipes/owners.ts'
import { type Recipes, recipeOf } from '../recipes/world.ts'

const published: ActionRecord[] = []
const on = serverForAll({}, { runsImports: false, onRecords: (records) => published.push(...records) })
const secrets = new Set<string>()
beforeAll(() => {
  const { call } = on
  on.call = async (method, path, options) => {
    collectSecrets(options)
    const answer = await call(method, path, options)
    collectSecrets(answer.json)
    return answer
  }
})
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const world = { on, owner, app }
const recipes: Recipes = {
  ...ownerRecipes(world),
  ...otherRecipes(world),
  ...factorRecipes(world),
  ...furtherRecipes(world),
}

const secretFields =
  /^(token|secret|appSecret|password|currentPassword|newPassword|recoveryCodes?|link|deviceToken|session|challenge|uri|value|code|deactivation)$/

/** Remembers what calls sent and returned that nobody else may read. */
function collectSecrets(value: unknown, name = ''): void {
  if (typeof value === 'string') {
    if (secretFields.test(name) && value.length >= 6) secrets.add(value)
  } else if (Array.isArray(value)) for (const each of value) collectSecrets(each, name)
  else if (typeof value === 'object' && value !== null) {
    for (const [inner, each] of Object.entries(value)) collectSecrets(each, inner)
  }
}

const makerOf = (ownerId: string, change: Partial<VendorActor> = {}): VendorActor =>
  ({
    ...toOwnerActor({ accountId: owner.accountId, ownerId, sessionId: '', address: '' }),
    ...change,
  }) as VendorActor

const toQueued = (record: ActionRecord): QueuedEvent => ({
  id: record.id,
  ownerId: record.ownerId ?? '',
  appId: record.appId,
  action: record.action as DeliveredName,
  actor: { kind: record.actor.kind, id: 'actorId' in record.actor ? record.actor.actorId : 'server' },
  targetId: record.targetId,
  detail: JSON.parse(toStoredDetail(record.detail)),
  at: record.at,
})

const examples = new Map<string, string>()

async function check(event: QueuedEvent): Promise<void> {
  const ctx = ctxOf(on)
  const { permission } = eventFacts(event.action)
  const withOnly = (...some: Permission[]) => makerOf(event.ownerId, { permissions: new Set(some) })
  const body = await toBody({ ctx, modules }, event, makerOf(event.ownerId))
  expect(body).toBeTypeOf('string')
  for (const each of [body!, (await toBody({ ctx, modules }, event, withOnly(permission)))!]) {
    const read = JSON.parse(each)
    expect(read).toEqual({
      type: event.action,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: {
        actor: { kind: event.actor.kind, _id: event.actor.id, name: expect.toSatisfy(isTextOrNull) },
        subject:
          event.targetId === null
            ? null
            : { kind: expect.any(String), _id: event.targetId, name: expect.toSatisfy(isTextOrNull) },
        object: expect.toSatisfy((object) => object === null || typeof object === 'object'),
        detail: event.detail,
      },
    })
    expect(each.length).toBeLessThan(16_384)
    for (const secret of secrets) {
      // An address or a hardware id on a block list is what the event is about.
      if (event.action.startsWith('block.')) break
      expect(each).not.toContain(JSON.stringify(secret).slice(1, -1))
    }
    expect(each).not.toMatch(/\bkw[a-z]_[\w-]{43}|whsec_|\$argon2|PRIVATE KEY/)
    expect(read.data.object?.appSecret ?? null).toBeNull()
  }
  const refused = [
    withOnly(...permissions.filter((one) => one !== permission)),
    withOnly(),
    makerOf(event.ownerId, { apps: new Set(['app_other']) }),
    makerOf(event.ownerId, { apps: new Set() }),
    makerOf('own_other'),
  ]
  for (const maker of refused) expect(await toBody({ ctx, modules }, event, maker)).toBeUndefined()
  if (event.appId !== null) {
    const inApp = makerOf(event.ownerId, { apps: new Set([event.appId]) })
    expect(await toBody({ ctx, modules }, event, inApp)).toBeTypeOf('string')
  }
  const known = examples.get(event.action)
  // One with its object shows more.
  if (known === undefined || JSON.parse(known).data.object === null) examples.set(event.action, body!)
}

const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'

test.each(Object.keys(recipes))(
  '%s causes events whose bodies hold no secret and are only for makers who may read them',
  async (name) => {
    const [, recorded, prepare] = recipeOf(recipes, name)
    const call = await prepare()
    published.length = 0
    expect((await call()).json).toMatchObject({ success: true })
    const records = published.slice()
    expect(records.map(({ action }) => action)).toEqual(expect.arrayContaining(recorded))
    for (const record of records) {
      if (record.ownerId === null || !isEventName(record.action)) continue
      if (isLogged(record.action, record.actor.kind)) await check(toQueued(record))
    }
  },
)

interface Example {
  /** What the subject's id begins with, unless the event has none. */
  target?: string
  detail: Record<string, unknown>
}

const payment = { orderId: 'ord_1', amount: 69_900, currency: 'INR', premiumUntil: null }
const hook = { origin: 'https://hooks.example', events: ['license.banned'], apps: null, active: true }
const granted = { plan: 'premium', until: 1_900_000_000_000 }

/** Events that only mail, the operator, the payment provider or the server itself causes. */
const madeUp: Partial<Record<DeliveredName, Example>> = {
  'owner.email_confirmation_requested': { target: 'acc', detail: {} },
  'owner.password_reset_requested': { target: 'acc', detail: {} },
  'owner.second_factors_removed': { target: 'acc', detail: {} },
  'reseller.password_reset_requested': { target: 'res', detail: {} },
  'customer.link_requested': { target: 'cus', detail: {} },
  'customer.unsubscribed': { target: 'cus', detail: {} },
  'end_user.password_link_mailed': { target: 'usr', detail: {} },
  'license.renewed': {
    target: 'lic',
    detail: { order: '1042', before: 1775211630000, after: 1777803630000 },
  },
  'device.drifted': { target: 'dev', detail: { endUserId: 'usr_1' } },
  'device.forgotten': { target: 'dev', detail: { endUserId: 'usr_1' } },
  'vendor.disabled': { target: 'own', detail: { programs: true } },
  'vendor.enabled': { target: 'own', detail: {} },
  'vendor.limits_set': {
    target: 'own',
    detail: {
      before: { apps: null, licensesPerApp: null, mails: null },
      after: { apps: 3, licensesPerApp: 10, mails: null },
    },
  },
  'plan.set': { target: 'own', detail: { before: { plan: 'free', until: null }, after: granted } },
  'plan.taken_back': { target: 'pay', detail: payment },
  'plan.restored': { target: 'pay', detail: payment },
  'payment.refund_due': { target: 'pay', detail: payment },
  'webhook.created': {
    target: 'whk',
    detail: { origin: 'https://hooks.example', events: ['*'], apps: null, format: 'standard' },
  },
  'webhook.updated': { target: 'whk', detail: { before: hook, after: { ...hook, active: false } } },
  'webhook.deleted': { target: 'whk', detail: { origin: 'https://hooks.example' } },
  'webhook.secret_rotated': { target: 'whk', detail: {} },
  'webhook.tested': { target: 'whk', detail: { delivery: 'del_1' } },
  'webhook.delivery_retried': { target: 'whk', detail: { delivery: 'del_1' } },
  'webhook.paused': { target: 'whk', detail: { reason: 'failing' } },
  'import.finished': {
    target: 'imp',
    detail: { dryRun: false, licenses: 1200, clients: 900, skipped: 3, failed: 0 },
  },
  'import.failed': { target: 'imp', detail: { reason: 'users.json is not a file of KeyAuth.' } },
  'import.undone': { target: 'imp', detail: { kept: 2 } },
  'shop_order.received': { target: 'sor', detail: { order: '1042' } },
  'shop_order.fulfilled': { target: 'sor', detail: { order: '1042', ids: ['lic_1'] } },
  'shop_order.waiting': {
    target: 'sor',
    detail: { order: '1042', reason: 'No license type is chosen for the product “pro”' },
  },
  'shop_order.refunded': { target: 'sor', detail: { order: '1042' } },
  'shop_order.disputed': { target: 'sor', detail: { order: '1042' } },
  'shop_order.dispute_won': { target: 'sor', detail: { order: '1042' } },
  'shop_order.end_changed': {
    target: 'sor',
    detail: { order: '1042', before: null, after: 1_900_000_000_000 },
  },
  'shop_order.product_changed': { target: 'sor', detail: { order: '1042', before: 'pro', after: 'team' } },
  [testEvent]: { target: 'whk', detail: {} },
  'program.refused': { target: 'usr', detail: { code: 'userBanned', call: 'session', reference: 'REF-1' } },
}

test('every event has a body', async () => {
  const { user } = await activateKey(on, owner, app, 'pc-1')
  const ids: Record<string, string> = { acc: owner.accountId, own: owner.id, usr: user._id }
  for (const [name, { target, detail }] of Object.entries(madeUp)) {
    const action = name as DeliveredName
    if (examples.has(action)) continue
    if (action !== 'program.refused' && action !== testEvent)
      expect(actions[action].parse(detail)).toEqual(detail)
    const targetId = target === undefined ? null : (ids[target] ?? newId(target))
    const appId = /^(license|device|program|reseller|shop_order|import)\./.test(action) ? app._id : null
    const actor = { kind: 'system', id: 'server' }
    await check({
      id: newId('aud'),
      ownerId: owner.id,
      at: on.clock.now(),
      appId,
      action,
      actor,
      targetId,
      detail,
    })
  }
  expect([...eventNames, testEvent].filter((name) => !examples.has(name))).toEqual([])
})

const page = fileURLToPath(new URL('../../../../docs/events.md', import.meta.url))

/** Names and kinds of values; null is one of any kind. Names in some objects are data. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
}

function fits(actual: unknown, documented: unknown): boolean {
  if (actual === null || documented === null) return true
  if (typeof actual !== 'object' || typeof documented !== 'object') return actual === documented
  const names = [actual, documented].map((each) => Object.keys(each as object).sort())
  const inner = (of: unknown, name: string) => (of as Record<string, unknown>)[name]
  return (
    JSON.stringify(names[0]) === JSON.stringify(names[1]) &&
    names[0]!.every((name) => fits(inner(actual, name), inner(documented, name)))
  )
}

test('the documented examples have the fields that the server sends', () => {
  const text = readFileSync(page, 'utf8')
  const documented = readExamples(text)
  const differing = [...examples].filter(([name, body]) => {
    const example = documented.get(name)
    return example === undefined || !fits(shapeOf(JSON.parse(body)), shapeOf(JSON.parse(example)))
  })
  if (process.env.WRITE_EVENT_EXAMPLES) {
    writeFileSync(page, fillEvents(text, new Map([...documented, ...differing])))
    return
  }
  expect(differing.map(([name]) => name)).toEqual([])
  expect([...documented.keys()].filter((name) => !examples.has(name))).toEqual([])
})
