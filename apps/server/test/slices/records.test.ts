// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { actions, isLogged, limits } from '@keyward/contract'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { ActionRecord } from '../../src/db/index.ts'
import { toStoredDetail } from '../../src/db/record-rows.ts'
import type { Tables } from '../../src/db/tables.ts'
import { allEndpoints } from '../../src/http/openapi.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { factorRecipes } from '../recipes/factors.ts'
import { otherRecipes } from '../recipes/others.ts'
import { ownerRecipes } from '../recipes/owners.ts'
import { type Recipes, recipeOf } from '../recipes/world.ts'

const published: ActionRecord[] = []
const on = serverForAll(
  {},
  { deliversWebhooks: false, runsImports: false, onRecords: (records) => published.push(...records) },
)
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const world = { on, owner, app }
const recipes: Recipes = { ...ownerRecipes(world), ...otherRecipes(world), ...factorRecipes(world) }

/** Writes that change nothing an owner or end user did, or that are proven elsewhere. */
const unrecorded = new Set([
  // Opens a session before any end user signs in.
  'program.init',
  // Records after the response; proven in the password reset tests.
  'auth.forgotPassword',
  'portal.forgotPassword',
  'customerPage.mail',
  // Says nothing of the token, which a mail has; proven in the tests of customers' mails.
  'unsubscribing.stop',
  // Prepare a factor, which counts once the next call has confirmed it.
  'secondFactor.beginTotp',
  'portalSecondFactor.beginTotp',
  'secondFactor.passkeyOptions',
  'portalSecondFactor.passkeyOptions',
  // Store nothing.
  'secondFactor.passkeyLoginOptions',
  'portalSecondFactor.passkeyLoginOptions',
  // Stores a challenge, which changes nothing.
  'accountSessions.confirmOptions',
  'portalSessions.confirmOptions',
  // Stores an event; what it changes is recorded when it is used.
  'hooks.receive',
  // Read only.
  'payments.validateCoupon',
  // Records like `payments.verify`, through the same settlement.
  'payments.webhook',
])

const writing = allEndpoints
  .filter(({ name, endpoint }) => endpoint.method !== 'GET' && !unrecorded.has(name))
  .map(({ name }) => name)

test.each(writing)('%s stores a record with actor, action and detail', async (name) => {
  const [kind, recorded, prepare] = recipeOf(recipes, name)
  const call = await prepare()
  published.length = 0
  const answer = await call()
  expect(answer.json).toMatchObject({ success: true })
  // A test order arrives meanwhile.
  const records = published.filter(({ actor }) => actor.kind !== 'shop')
  expect(records.map(({ action }) => action)).toEqual(expect.arrayContaining(recorded))
  // PostgreSQL refuses an empty list.
  const ids = ['', ...records.map(({ id }) => id)]
  const stored = await on.database.db.selectFrom('audit').selectAll().where('id', 'in', ids).execute()
  expect(stored).toHaveLength(records.filter(({ action, actor }) => isLogged(action, actor.kind)).length)
  for (const { id, action, actor, detail } of records) {
    expect(actor.kind).toBe(kind)
    expect(actions[action].safeParse(detail).success).toBe(true)
    const row = stored.find((one) => one.id === id)
    if (!row) continue
    expect(row).toMatchObject({ action, actor_kind: kind, detail: toStoredDetail(detail) })
    expect(Buffer.byteLength(row.detail ?? '')).toBeLessThanOrEqual(limits.recordDetailBytes)
    expect(row.owner_id).toBe(actor.ownerId)
    if (isOnApp(action) && name !== 'licenses.removeAll') expect(row.app_id).toMatch(/^app_/)
    // The provider has neither, and a stateless call has no session.
    if (kind !== 'provider') expect(row.address).toBe('127.0.0.1')
    if (kind !== 'provider' && name !== 'program.validate') expect(row.session_id).toEqual(expect.any(String))
  }
})

const isOnApp = (action: string) =>
  /^(app|license_type|release|licenses?|end_users?|device|block|shop|shop_order|reseller)\./.test(action)

const tables: (keyof Tables)[] = [
  'accounts',
  'owners',
  'members',
  'owner_sessions',
  'apps',
  'licenses',
  'clients',
  'resellers',
  'reseller_sessions',
  'customer_sessions',
  'password_resets',
  'second_factors',
  'passkeys',
  'recovery_codes',
  'factor_challenges',
  'devices',
  'offline_activations',
  'payments',
  'webhooks',
  'webhook_deliveries',
  'shops',
  'shop_orders',
]
/** All rows, in an order of their own: an update moves a row on PostgreSQL. */
async function snapshot(): Promise<string> {
  const rows = await Promise.all(
    tables.map((table) => on.database.db.selectFrom(table).selectAll().execute()),
  )
  // `init` writes this in the background, in a transaction of its own.
  const ignored = (name: string, value: unknown) => (name === 'sdkless_init_at' ? undefined : value)
  return rows
    .map((found) =>
      found
        .map((row) => JSON.stringify(row, ignored))
        .sort()
        .join('\n'),
    )
    .join('\n\n')
}

const logged = writing.filter((name) => {
  const [kind, recorded] = recipeOf(recipes, name)
  return recorded.some((action) => isLogged(action, kind))
})

test.each(logged)('%s changes nothing if its record cannot be stored', async (name) => {
  const call = await recipeOf(recipes, name)[2]()
  const before = await snapshot()
  await sql`alter table audit rename to audit_away`.execute(on.database.db)
  try {
    expect((await call()).status).toBe(500)
  } finally {
    await sql`alter table audit_away rename to audit`.execute(on.database.db)
  }
  expect(await snapshot()).toBe(before)
})
