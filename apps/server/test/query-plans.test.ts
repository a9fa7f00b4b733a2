import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ListedLicenseStatus } from '@keyward/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allApps, type OwnerScope, type ResellerActor } from '../src/core/actor.ts'
import { toTypedKey } from '../src/core/ids.ts'
import {
  deleteDeliveriesOf,
  deleteEmptyCounts,
  deleteExpired,
  deleteOfApp,
  deleteRecordsBefore,
} from '../src/db/deletions.ts'
import { prepared, type Tx } from '../src/db/index.ts'
import { endRows } from '../src/db/lists/ends.ts'
import { countEnding, fewMatches, type ListFilter } from '../src/db/lists/list-filters.ts'
import { searchPage } from '../src/db/lists/list-search.ts'
import { findPage, nextWindow } from '../src/db/lists/lists.ts'
import { walkOrigin } from '../src/db/lists/origins.ts'
import { findStart } from '../src/db/lists/places.ts'
import { findRecords, type RecordFilter, toWalk } from '../src/db/lists/records.ts'
import { type RecordSearch, searchRecords } from '../src/db/lists/records-search.ts'
import { type SearchTerm, toSearchTerm } from '../src/db/lists/search.ts'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { tablesOf } from '../src/db/owned-tables.ts'
import { queueRecords } from '../src/db/record-rows.ts'
import { transact } from '../src/db/transact.ts'
import { type ActivityFilter, pageActivity } from '../src/modules/activity/activity.repo.ts'
import { removeAppFromApiKeys } from '../src/modules/api-keys/api-keys.access.ts'
import * as apiKeys from '../src/modules/api-keys/api-keys.repo.ts'
import { hasRoomForFile, lockApps, readFreePlaces } from '../src/modules/apps/apps.access.ts'
import { pageBlocks } from '../src/modules/blocklist/blocklist.repo.ts'
import { listAddresses } from '../src/modules/customers/customers.access.ts'
import { findActivationEnd, listActivationEnds } from '../src/modules/devices/devices.access.ts'
import { freeAllEnded, freeEnded, freeLeasedSeats } from '../src/modules/devices/leased-places.access.ts'
import { lockEndUser } from '../src/modules/end-users/end-users.access.ts'
import { endUserList } from '../src/modules/end-users/end-users.list.ts'
import * as clients from '../src/modules/end-users/end-users.repo.ts'
import { updateEndUsers } from '../src/modules/entitlements/end-user-rows.ts'
import * as entitlements from '../src/modules/entitlements/entitlements.service.ts'
import { withdrawKeys } from '../src/modules/entitlements/grants.changes.ts'
import { changeAccess } from '../src/modules/entitlements/grants.ts'
import type { Which } from '../src/modules/entitlements/license-rows.ts'
import * as licenseRows from '../src/modules/entitlements/license-rows.ts'
import { findRunning } from '../src/modules/imports/imports.claim.ts'
import { listSkipped } from '../src/modules/imports/imports.repo.ts'
import { modules } from '../src/modules/index.ts'
import { countLicenses } from '../src/modules/license-types/license-types.repo.ts'
import { findLicenseByKey, takenKeys } from '../src/modules/licenses/licenses.access.ts'
import { licenseList, licenseListBy } from '../src/modules/licenses/licenses.list.ts'
import * as licenses from '../src/modules/licenses/licenses.repo.ts'
import { untilDate } from '../src/modules/licenses/licenses.rules.ts'
import * as mails from '../src/modules/mail/mail.queue.ts'
import { recipientOf } from '../src/modules/notifications/notifications.access.ts'
import * as looks from '../src/modules/notifications/notifications.facts.ts'
import * as notifications from '../src/modules/notifications/notifications.repo.ts'
import * as activations from '../src/modules/offline-activations/offline-activations.repo.ts'
import * as resetRequests from '../src/modules/password-resets/reset-requests.repo.ts'
import { refuseUnusable } from '../src/modules/payments/coupons.service.ts'
import * as portal from '../src/modules/portal/portal.repo.ts'
import { countOnline } from '../src/modules/sessions/online.access.ts'
import * as orderList from '../src/modules/shops/orders.list.ts'
import * as shopEvents from '../src/modules/shops/shop-events.repo.ts'
import * as shops from '../src/modules/shops/shops.repo.ts'
import * as deliveries from '../src/modules/webhooks/deliveries.repo.ts'
import * as webhooks from '../src/modules/webhooks/webhooks.repo.ts'
import { listLanes } from '../src/service/delivery-runner.ts'
import { deleteAnswers, deleteOldest, isFull } from '../src/service/stored-answers.ts'

let database: OpenDatabase & { dialect: 'sqlite' }
let dataDir: string
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-plans-'))
  const opened = openDatabase({ url: undefined, dataDir })
  if (opened.dialect !== 'sqlite') throw new Error('expected an embedded database')
  database = opened
  await migrate(database, migrations, { now: 1 })
})
afterAll(async () => {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('deletions do not rewrite the search indexes', () => {
  // The reader may still see the file as it was before the migrations, until its turn ends.
  const { database: file } = database.handles.writer
  for (const index of ['license_search', 'client_search']) {
    const rows = file.prepare(`select k, v from ${index}_config where k = 'deletemerge'`).all()
    expect(rows).toEqual([{ k: 'deletemerge', v: 101 }])
  }
})

const scope = allApps('own_1')
const someApps: OwnerScope = { ownerId: 'own_1', apps: new Set(['app_1', 'app_2']) }
const oneApp: OwnerScope = { ownerId: 'own_1', apps: new Set(['app_1']) }
const ids = Array.from({ length: 100 }, (_, index) => `id_${index}`)

/** The scans and searches in SQLite's plan for each query of the work, or other steps of it. */
async function plansOf(work: (tx: Tx) => Promise<unknown>, which = /^(SCAN|SEARCH)/): Promise<string[]> {
  const { writer } = database.handles
  const asked = new Set<string>()
  const prepare = writer.prepare.bind(writer)
  writer.prepare = (text) => {
    asked.add(text)
    return prepare(text)
  }
  try {
    await transact(database.db, work)
  } finally {
    writer.prepare = prepare
  }
  const texts = [...asked].filter((text) => !/^(begin|commit|rollback|select total_changes)/.test(text))
  return texts.flatMap((text) => {
    const steps = writer.database.prepare(`explain query plan ${text}`).all() as { detail: string }[]
    return steps.map(({ detail }) => detail).filter((detail) => which.test(detail))
  })
}

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['are listed', (tx) => apiKeys.listApiKeys(tx, scope)],
  ['are read', (tx) => apiKeys.findApiKey(tx, scope, 'key_1')],
  ['are resolved', (tx) => apiKeys.apiKeyByHash.first(tx, { keyHash: 'hash' })],
  ['are revoked', (tx) => apiKeys.revokeApiKey(tx, scope, 'key_1', 1)],
  ['are deleted', (tx) => apiKeys.deleteLongRevoked(tx, scope)],
  ['lose an app', (tx) => removeAppFromApiKeys(tx, scope, 'app_1')],
  ['note a use', (tx) => apiKeys.noteUse(tx, 'key_1', { now: 9, before: 1, address: '::1' })],
  ['name apps', (tx) => lockApps(tx, scope, ['app_1', 'ABCDEFGH'])],
])('API keys %s without scanning a table', async (_what, work) => {
  const plan = await plansOf(work)
  expect(plan.length).toBeGreaterThan(0)
  expect(plan.filter((step) => step.startsWith('SCAN') && step !== 'SCAN CONSTANT ROW')).toEqual([])
})

const person = { ownerId: 'own_1', accountId: 'acc_1' }
const told = { ...person, kind: 'weeklySummary' }
const oneOfVendor = { id: 'app_1', name: 'Atlas', created_at: 1, license_count: 1 }

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['vendors are due', (tx) => notifications.listDue(tx, 9, 50)],
  ['a vendor is taken', (tx) => notifications.takeLook(tx, 'own_1', 9, 10)],
  ['looks end', (tx) => notifications.endLooks(tx, 'own_1')],
  ['people want mails', (tx) => notifications.listWanting(tx, 'own_1')],
  ['a person is read', (tx) => recipientOf(tx, person, 'weeklySummary')],
  ['marks are read', (tx) => notifications.listMarks(tx, told)],
  ['marks are changed', (tx) => notifications.markGone(tx, told, ids)],
  ['old marks are deleted', (tx) => notifications.deleteOldMarks(tx, 'own_1', 9)],
  ['apps are listed', (tx) => looks.listApps(tx, 'own_1')],
  ['ending licenses are counted', (tx) => looks.countEnding(tx, 'own_1', [1, 9])],
  ['a week is counted', (tx) => looks.countWeek(tx, 'own_1', 9)],
  ['refusals are read', (tx) => looks.findRisingRefusals(tx, oneOfVendor, 9)],
  ['refusing apps are found', (tx) => looks.listRefusing(tx, 'own_1')],
  ['full resellers are found', (tx) => looks.listFullResellers(tx, 'own_1')],
])('%s for notifications by an index, and no license is read', async (_what, work) => {
  const plan = await plansOf(work)
  expect(plan.length).toBeGreaterThan(0)
  const scans = plan.filter((step) => step.startsWith('SCAN') && !/^SCAN (newest|\(subquery)/.test(step))
  expect(scans).toEqual([])
  expect(plan.filter((step) => /\b(licenses|clients)\b/.test(step))).toEqual([])
})

test('keys are counted for notifications from the counts of hours and blocks', async () => {
  const plan = await plansOf((tx) => looks.countKeys(tx, 'own_1', 9))
  expect(plan).toContainEqual(expect.stringContaining('INDEX license_blocks_owner (owner_id=? AND block>?)'))
  expect(plan).toContainEqual(
    expect.stringContaining('INDEX license_counts_owner (owner_id=? AND bucket>? AND bucket<?)'),
  )
})

test('those who are online are counted from the sessions that were used lately', async () => {
  const plan = await plansOf((tx) => countOnline({ lists: tx }, 'app_1', 1))
  expect(plan).toContainEqual(
    expect.stringContaining('INDEX client_sessions_app (app_id=? AND expires_at>?)'),
  )
})

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['are listed', (tx) => webhooks.listWebhooks(tx, scope)],
  ['lose an app', (tx) => webhooks.listNaming(tx, scope, 'app_1')],
  ['are removed', (tx) => webhooks.listDeleted(tx)],
  ['get events', (tx) => prepared.together(tx, [queueRecords(tx, ['aud_1', 'aud_2'])])],
  ['are due', (tx) => deliveries.hasDue.first(tx, { now: 1 })],
  ['have due events', (tx) => deliveries.listLanes(tx, { after: '', now: 1, count: 9 })],
  ['are full', (tx) => deliveries.listFull(tx, { after: '', count: 9, most: 9 })],
  ['are still full', (tx) => deliveries.isFull(tx, 'whk_1', 9)],
  ['are looked at', (tx) => deliveries.listCandidates(tx, { webhookId: 'whk_1', now: 1, count: 9 })],
  ['are claimed', (tx) => deliveries.claim(tx, [1, 2], { now: 1, until: 2 })],
  ['make later events wait', (tx) => deliveries.postpone(tx, [1, 2], { now: 1, until: 2 })],
  ['go on', (tx) => deliveries.releaseNext(tx, { webhook_id: 'whk_1', subject: 'lic_1' }, 1)],
  ['give up', (tx) => deliveries.giveUp(tx, 'whk_1', { now: 1, count: 9 })],
  ['lose their log', (tx) => deliveries.deleteSome(tx, 'whk_1', 9)],
  ['lose their log with their vendor', (tx) => deleteDeliveriesOf(tx, scope.ownerId, 9)],
])('webhooks %s without scanning a table', async (_what, work) => {
  const plan = await plansOf(work)
  expect(plan.length).toBeGreaterThan(0)
  const named = /^SCAN (?!waiting|d$|CONSTANT ROW|\d|\(|some)/
  expect(plan.filter((step) => named.test(step))).toEqual([])
})

const everyOrder = { page: 1, limit: 9 }
test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['are listed', (tx) => shops.listShops(tx, scope, 'app_1')],
  ['have due events', (tx) => shopEvents.hasDue.first(tx, { now: 1 })],
  ['have lanes', (tx) => listLanes(tx, 'shop_events', { after: '', now: 1, count: 9 })],
  ['are served', (tx) => shopEvents.claim(tx, 'own_1 shp_1', { now: 1, until: 2, count: 9 })],
  ['know what was told', (tx) => shopEvents.listFacts(tx, 'sor_1')],
  ['are resumed', (tx) => shopEvents.setDueOfShop(tx, 'shp_1', { dueAt: 1, count: 9 })],
  ['forget bodies', (tx) => shopEvents.eraseBodies(tx, 1, 9)],
  ['end events', (tx) => shopEvents.endEventsOf(tx, 'sor_1', 1)],
  ['have orders', (tx) => orderList.pageOrders(tx, scope, {}, everyOrder, 99)],
  ['have waiting orders', (tx) => orderList.pageOrders(tx, scope, { state: 'waiting' }, everyOrder, 99)],
  ['have orders of an app', (tx) => orderList.pageOrders(tx, scope, { appId: 'app_1' }, everyOrder, 99)],
  ['have orders of a shop', (tx) => orderList.pageOrders(tx, scope, { shop: 'shp_1' }, everyOrder, 99)],
  ['have orders of a license', (tx) => orderList.pageOrders(tx, scope, { license: 'lic_1' }, everyOrder, 99)],
  [
    'have orders of a customer',
    (tx) => orderList.pageOrders(tx, scope, { customer: 'cus_1' }, everyOrder, 99),
  ],
  ['find orders', (tx) => orderList.pageOrders(tx, scope, { search: 'ada@' }, everyOrder, 99)],
  ['list units', (tx) => orderList.listUnitsOf(tx, ['sor_1'])],
])('shops %s without scanning a table', async (_what, work) => {
  const plan = await plansOf(work)
  expect(plan.length).toBeGreaterThan(0)
  const named = /^SCAN (?!waiting|q$|CONSTANT ROW|\d|\(|some)/
  expect(plan.filter((step) => named.test(step))).toEqual([])
})

test.each([
  ['all apps', scope],
  ['some apps', someApps],
])('exports with %s find the addresses of customers by their ids', async (_what, reader) => {
  const plan = await plansOf((tx) => listAddresses(tx, reader, ids))
  expect(plan).toContainEqual(expect.stringMatching(/^SEARCH c .*\(id=\?\)/))
  expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
})

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['due mails are looked for', (tx) => mails.findDue.first(tx, { now: 9 })],
  ['lanes of mails are listed', (tx) => listLanes(tx, 'mails', { after: '', now: 9, count: 200 })],
  ['mails are claimed', (tx) => mails.claim(tx, 'own_1', { now: 9, until: 99, count: 4 })],
  ['outcomes are stored', (tx) => mails.store(tx, { id: 'mai_1', attempts: 1 }, { state: 'sent' })],
  ['mails expire', (tx) => mails.expire(tx, { now: 9, keptUntil: 99, count: 100 })],
  ['the oldest mail is found', (tx) => mails.findOldest(tx)],
  ['due requests are looked for', (tx) => resetRequests.findDue.first(tx, { now: 9 })],
  ['networks are listed', (tx) => listLanes(tx, 'reset_requests', { after: '', now: 9, count: 200 })],
  ['requests are claimed', (tx) => resetRequests.claim(tx, 'net', { now: 9, until: 99, count: 4 })],
])('%s without scanning a queue', async (_name, work) => {
  const plan = await plansOf(work)
  expect(plan.length).toBeGreaterThan(0)
  const scans = plan.filter((step) => step.startsWith('SCAN') && !step.includes('mails_waiting'))
  expect(scans.filter((step) => !/^SCAN (waiting|CONSTANT ROW)/.test(step))).toEqual([])
})

const addedKeys = [{ id: 'lic_1', client_id: null }]
const setEnds = (tx: Tx, scope: OwnerScope, which: Which) =>
  changeAccess({ tx, now: 1 }, scope, which, () => ({
    added: [{ kind: 'end', until: 1, source_kind: 'person', source_id: null }],
  }))

const dated = (id: string) => ({ id, ...untilDate(9) })

test.each<[string, (tx: Tx, scope: OwnerScope) => Promise<unknown>]>([
  ['licenses are read', (tx, scope) => licenses.listById(tx, scope, ids)],
  ['licenses are locked', (tx, scope) => licenses.lockLicenses(tx, scope, ids)],
  ['licenses are banned', (tx, scope) => licenseRows.updateLicenses(tx, scope, ids, { banned: 1 })],
  ['licenses are deleted', (tx, scope) => licenseRows.deleteByIds(tx, scope, ids)],
  ['ends of licenses change', (tx, scope) => setEnds(tx, scope, { licenses: ids })],
  ['end users are read', (tx, scope) => clients.listById(tx, scope, ids)],
  ['end users are locked', (tx, scope) => clients.lockEndUsers(tx, scope, ids)],
  ['end users are changed', (tx, scope) => updateEndUsers(tx, scope, ids, { banned: 1 })],
  ['end users are deleted', (tx, scope) => clients.deleteEndUsers(tx, scope, ids, 0)],
  ['ends of end users change', (tx, scope) => setEnds(tx, scope, { clients: ids })],
  ['added keys are withdrawn', (tx, scope) => withdrawKeys({ tx, now: 1 }, scope, addedKeys)],
  ['licenses are freed', (tx, scope) => entitlements.freeLicensesOf({ tx, now: 1 }, scope, ids)],
  [
    'end users of deleted licenses end',
    (tx, scope) => entitlements.expireUsersOf({ tx, now: 1 }, scope, ids),
  ],
  ['a license is redeemed', (tx, scope) => entitlements.redeem(tx, scope, dated('lic_1'), 'usr_1', 1)],
  ['an end user is locked', (tx, scope) => lockEndUser(tx, scope, 'usr_1')],
  ['places are freed', (tx, scope) => freeEnded(tx, scope, 'usr_1', 1)],
  ['ended places are found', (tx) => freeAllEnded(tx, 1, 9)],
  ['leased seats are freed', (tx, scope) => freeLeasedSeats(tx, scope, ids, 'dev_1')],
])("%s by id without scanning the owner's rows", async (_name, work) => {
  const plan = await plansOf((tx) => work(tx, scope))
  expect(plan.length).toBeGreaterThan(0)
  expect(
    plan.filter((step) => step.startsWith('SCAN') || /INDEX (licenses|clients)_(owner|app)/.test(step)),
  ).toEqual([])
  const ofSome = await plansOf((tx) => work(tx, someApps))
  // What callers with some apps see of customers.
  expect(ofSome.filter((step) => !step.includes('INDEX customer_faces_customer (customer_id=?'))).toEqual(
    plan,
  )
})

test.each<[string, licenseRows.SliceFilter]>([
  ['licenses_owner', { lastSeq: 9 }],
  ['licenses_app', { appId: 'app_1', lastSeq: 9 }],
  ['licenses_reseller', { appId: 'app_1', resellerId: 'res_1', lastSeq: 9 }],
])('deletes a slice of licenses in the order of %s', async (index, filter) => {
  const plan = await plansOf((tx) => licenseRows.listSlice(tx, scope, filter, 100))
  expect(plan).toContainEqual(
    expect.stringMatching(`SEARCH licenses USING .*INDEX ${index} \\(\\w+=\\? AND seq<\\?\\)`),
  )
  expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
})

test('finds the oldest stored answers of an account through their indexes', async () => {
  const oldest = await plansOf((tx) => deleteAnswers(tx, scope, 100))
  expect(oldest.join()).toContain('idempotency_keys_owner (owner_id=?)')
  const full = await plansOf((tx) => isFull(tx, scope))
  expect(full.join()).toContain('COVERING INDEX idempotency_keys_owner (owner_id=?)')
  const room = await plansOf((tx) => deleteOldest(tx, scope))
  expect(room.join()).toContain('INDEX idempotency_keys_owner (owner_id=?)')
  expect([...oldest, ...room].filter((step) => step.startsWith('SCAN'))).toEqual([])
})

test('finds the import of a call, and the rows that it skipped, through indexes', async () => {
  const found = await plansOf((tx) => findRunning(tx, 'imp_1'))
  const skipped = await plansOf((tx) => listSkipped(tx, 'imp_1'))
  for (const step of [...found, ...skipped]) expect(step).toMatch(/^SEARCH data_import(s|_rows) USING INDEX /)
})

test('finds a key through the indexes of its exact and its typed form', async () => {
  const plan = await plansOf((tx) => findLicenseByKey(tx, 'app_1', toTypedKey('SOLAR-LION')))
  const indexes = plan.map((step) => /^SEARCH .* USING (.*)/.exec(step)?.[1])
  expect(indexes).toEqual(
    expect.arrayContaining([
      'INTEGER PRIMARY KEY (rowid=?)',
      expect.stringContaining('(app_id=? AND key_normalized=?)'),
      expect.stringContaining('INDEX licenses_key_typed (app_id=? AND <expr>=?)'),
    ]),
  )
  const taken = await plansOf((tx) => takenKeys(tx, 'app_1', ['S01AR', '110N']))
  expect([...plan, ...taken].filter((step) => step.startsWith('SCAN'))).toEqual([])
  expect(taken.join()).toMatch(/licenses_key_typed.*licenses_key_twins/)
})

test('counts coupon uses through indexes, without scanning all orders', async () => {
  const coupon = { code: 'A', percent: 1, max_uses: 1, max_uses_per_owner: 1, active: 1 } as const
  const use = { scope, now: 1, withOwnOpen: false }
  const plan = await plansOf((tx) =>
    refuseUnusable(tx, { ...coupon, valid_from: null, valid_until: null, listed: 0 }, use),
  )
  expect(plan).toEqual([
    expect.stringContaining('INDEX payment_orders_coupon'),
    expect.stringContaining('INDEX payment_orders_owner'),
  ])
})

test("counts and pages a reseller's licenses through covering indexes", async () => {
  const reseller = { resellerId: 'res_1' } as ResellerActor
  const plan = await plansOf((tx) => portal.countLicenses({ ...database, lists: tx }, reseller, 1))
  expect(plan).toEqual([expect.stringContaining('COVERING INDEX licenses_reseller_counts')])
  const page = { page: 1, limit: 200 }
  const paging = await plansOf((tx) => portal.pageOfLicenses({ ...database, lists: tx }, reseller, page, 1))
  expect(paging).toEqual([expect.stringContaining('COVERING INDEX licenses_reseller ')])
  const walking = await plansOf((tx) => portal.licensesBefore({ ...database, lists: tx }, reseller, 9, 500))
  expect(walking).toEqual([expect.stringContaining('COVERING INDEX licenses_reseller ')])
  const term = toSearchTerm('abc') as SearchTerm
  const searching = await plansOf((tx) => portal.searchLicenses({ ...database, lists: tx }, reseller, term))
  expect(searching).toEqual([
    expect.stringContaining('INDEX licenses_reseller '),
    expect.stringContaining('SEARCH c USING'),
    expect.stringContaining('SEARCH f USING'),
  ])
})

const machine = { clientId: 'usr_1', hwidHash: 'x' }
const onePage = { page: 1, limit: 50 }
const ofApp = { appId: 'app_1', clientId: undefined }
const ofUser = { appId: 'app_1', clientId: 'usr_1' }

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['lists the activations of an app', (tx) => activations.pageActivations(tx, scope, ofApp, onePage)],
  ['lists those of an end user', (tx) => activations.pageActivations(tx, scope, ofUser, onePage)],
  ['finds an activation by its request', (tx) => activations.findByRequest(tx, scope, 'app_1', 'x')],
  ['finds an activation by its code', (tx) => activations.findByCode(tx, scope, 'app_1', 'x')],
  ['replaces activations', (tx) => activations.replaceOthers(tx, scope, machine, 'ofa_1', 1)],
  ['deactivates a machine', (tx) => activations.deactivateAll(tx, scope, machine, 1)],
  ['trims replaced activations', (tx) => activations.trimReplaced(tx, scope, machine, 20)],
  ['finds the latest end of a file', (tx) => activations.latestEnd(tx, scope, 'usr_1')],
  ['finds the file of a device', (tx) => findActivationEnd(tx, 'dev_1', 1)],
  ['lists the files of devices', (tx) => listActivationEnds(tx, ['usr_1'], 1)],
  ['checks a page of a block list', (tx) => pageBlocks(tx, 'app_1', { page: 1, limit: 50 })],
])('%s through indexes', async (_name, work) => {
  const plan = await plansOf(work)
  expect(plan.length).toBeGreaterThan(0)
  expect(plan.filter((step) => step.startsWith('SCAN') || /INDEX clients_owner/.test(step))).toEqual([])
})

const [app, client, from, code, kind] = ['app_1', 'usr_1', 1, 'keyNotFound', 'init']

test.each<[string, ActivityFilter, OwnerScope?]>([
  ['activity_app (app_id=? AND created_at>?)', { from }, oneApp],
  ['activity_app_code (app_id=? AND code=? AND created_at>?)', { from, code }, oneApp],
  ['activity_client (client_id=? AND created_at>?)', { from, client }, oneApp],
  ['activity_owner (owner_id=? AND created_at>?)', { from }],
  ['activity_owner_refused (owner_id=? AND created_at>?)', { from, code: 'any' }],
  ['activity_code (owner_id=? AND code=? AND created_at>?)', { from, code }],
  ['activity_app (app_id=? AND created_at>?)', { from, app }],
  ['activity_app_refused (app_id=? AND created_at>?)', { from, app, code: 'any' }],
  ['activity_app_code (app_id=? AND code=? AND created_at>?)', { from, app, code }],
  ['activity_client (client_id=? AND created_at>?)', { from, app, client }],
  ['activity_client_refused (client_id=? AND created_at>?)', { from, app, client, code: 'any' }],
  ['activity_client_refused (client_id=? AND created_at>?)', { from, client, code }],
  ['activity_owner_kind (owner_id=? AND kind=? AND created_at>?)', { from, kinds: [kind] }],
  ['activity_app_kind (app_id=? AND kind=? AND created_at>?)', { from, app, kinds: [kind] }],
  ['activity_app_kind (app_id=? AND kind=? AND created_at>?)', { from, kinds: [kind] }, oneApp],
  ['activity_owner_kind (owner_id=? AND kind=? AND created_at>?)', { from, kinds: [kind, 'other'] }],
  ['activity_app_kind (app_id=? AND kind=? AND created_at>?)', { from, app, kinds: [kind, 'other'] }],
])('lists events through %s', async (index, filter, within = scope) => {
  const { handles } = database
  handles.writer.database.exec(
    "insert into activity (reference, owner_id, app_id, client_id, kind, code, times, created_at, last_at) values ('R', 'own_1', 'app_1', 'usr_1', 'refused', 'keyNotFound', 1, 2, 2), ('R2', 'own_1', 'app_1', null, 'init', null, 1, 2, 2)",
  )
  const plan = await plansOf((tx) =>
    pageActivity({ ...database, lists: tx }, within, filter, { page: 1, limit: 50 }, 100),
  )
  handles.writer.database.exec("delete from activity where reference in ('R', 'R2')")
  const byIndex = expect.stringMatching(new RegExp(`INDEX ${index.replace(/[()?]/g, '\\$&')}$`))
  const found = plan.filter((step) => / t /.test(step) && !step.includes('rowid=?'))
  expect(found).toEqual(Array(2 * (filter.kinds?.length ?? 1)).fill(byIndex))
})

test('finds events of a license, and those that a search finds, through an index for each way', async () => {
  const search = {
    ...{ clients: [client], address: '203.', reference: 'ABC' },
    subjects: [
      { text: 'mallory', isBeginning: true },
      { text: 'abc', isBeginning: false },
    ],
  }
  for (const filter of [{}, { app, code, from }, { kind, client }] as ActivityFilter[]) {
    const plan = await plansOf((tx) =>
      pageActivity(
        { ...database, lists: tx },
        scope,
        { ...filter, among: [search] },
        { page: 1, limit: 50 },
        100,
      ),
    )
    const reads = plan.filter((step) => / t /.test(step) && !step.includes('rowid=?'))
    expect(
      [
        ...new Set(
          reads.map((step) => / INDEX (\S+ \(.*)/.exec(step)?.[1]?.replace(' AND created_at>?', '')),
        ),
      ].sort(),
    ).toEqual([
      'activity_address (owner_id=? AND address>? AND address<?)',
      'activity_client (client_id=?)',
      'activity_subject (owner_id=? AND <expr>=?)',
      'activity_subject (owner_id=? AND <expr>>? AND <expr><?)',
      'sqlite_autoindex_activity_1 (reference>? AND reference<?)',
    ])
  }
})

test.each<[string, Partial<RecordFilter>, OwnerScope?]>([
  ['audit_owner (owner_id=? AND created_at>?)', {}],
  ['audit_app (app_id=? AND created_at>?)', { app }],
  ['audit_app (app_id=? AND created_at>?)', {}, oneApp],
  ['audit_actor (owner_id=? AND actor_id=? AND created_at>?)', { actor: 'acc_1' }],
  ['audit_action (owner_id=? AND action=? AND created_at>?)', { action: 'license.banned' }],
  ['audit_subject (target_id=? AND created_at>?)', { subject: 'lic_1' }],
])('lists records in the order of %s', async (index, more, within = scope) => {
  const filter = { scope: within, from, ...more }
  const plan = await plansOf(async (tx) => {
    const walk = await toWalk({ ...database, lists: tx }, filter)
    await findRecords({ ...database, lists: tx }, walk({ count: 100 }), { page: 1, limit: 50 })
  })
  const reads = plan.filter((step) => /^\w+ t /.test(step))
  expect(reads).toEqual([expect.stringMatching(new RegExp(`INDEX ${index.replace(/[()?]/g, '\\$&')}$`))])
})

test('reads the changes of an app action by action, through their index', async () => {
  const filter = { scope, app, from, actions: ['app.updated', 'release.added'] } as const
  const plan = await plansOf(async (tx) => {
    const walk = await toWalk({ ...database, lists: tx }, filter)
    await findRecords({ ...database, lists: tx }, walk({ count: 100 }), { page: 1, limit: 50 })
  })
  const reads = plan.filter((step) => /^\w+ t /.test(step))
  const index = expect.stringMatching(/INDEX audit_action \(owner_id=\? AND action=\? AND created_at>\?\)$/)
  expect(reads).toEqual([index, index])
})

test('chooses the filter with the fewest records by counting a bounded part of each index', async () => {
  const filter = { scope, app, actor: 'acc_1', action: 'license.banned' } as const
  const plan = await plansOf((tx) => toWalk({ ...database, lists: tx }, filter))
  const indexes = plan.flatMap((step) => /COVERING INDEX (\w+)|INDEX (audit_app)/.exec(step)?.slice(1) ?? [])
  expect(indexes.filter(Boolean)).toEqual(['audit_actor', 'audit_action', 'audit_app'])
})

test('finds what a record says of one object through its indexes, without a scan', async () => {
  const filter = { scope, from, about: { id: 'lic_1', related: ['usr_1'], linked: 5 } }
  const plan = await plansOf(async (tx) => {
    const walk = await toWalk({ ...database, lists: tx }, filter)
    await findRecords({ ...database, lists: tx }, walk({ count: 100 }), { page: 1, limit: 50 })
  })
  const reads = plan.filter((step) => /^\w+ (t|o|l) /.test(step))
  const ofObject = [
    'SEARCH o USING PRIMARY KEY (object_id=?)',
    'SEARCH t USING INTEGER PRIMARY KEY (rowid=?)',
  ]
  const ofSubject = 'SEARCH t USING INDEX audit_subject (target_id=? AND created_at>?)'
  expect(reads).toEqual([
    ...[...ofObject, ...ofObject],
    'SEARCH l USING INTEGER PRIMARY KEY (rowid>?)',
    'SEARCH t USING INTEGER PRIMARY KEY (rowid=?)',
    ...[ofSubject, ofSubject],
    'SEARCH t USING COVERING INDEX audit_actor (owner_id=? AND actor_id=? AND created_at>?)',
  ])
})

test('searches records through the indexes of text, action, actor and subject, without a scan', async () => {
  const insert = database.handles.writer.database.prepare(
    "insert into audit (id, owner_id, actor_kind, actor_id, action, created_at) values (?, 'own_s', 'owner', 'a', 'x', 1)",
  )
  const { writer } = database.handles
  writer.database.exec(
    "insert into owners (id, account_id, name, created_at) values ('own_s', 'acc_s', '', 1)",
  )
  writer.database.exec('begin')
  for (let at = 0; at <= fewMatches; at += 1) insert.run(`aud_${at}`)
  writer.database.exec('commit')
  const filter = { scope: allApps('own_s') }
  const search = {
    text: 'abcd',
    actions: ['license.banned'],
    ids: ['acc_1'],
    subjects: ['lic_1'],
    hidden: [],
  }
  const plan = await plansOf(async (tx) => {
    const here = { ...database, db: tx, lists: tx, counts: tx }
    const walk = await toWalk(here, filter)
    const found = await searchRecords(here, filter, search as RecordSearch, walk)
    await findRecords(here, found, { page: 1, limit: 50 })
  })
  writer.database.exec("delete from owners where id = 'own_s'")
  expect(plan.filter((step) => /^SCAN (t|audit)\b/.test(step))).toEqual([])
  expect(plan).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/SCAN audit_search VIRTUAL TABLE/),
      'SEARCH t USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH t USING INTEGER PRIMARY KEY (rowid>?)',
      expect.stringContaining('audit_action (owner_id=? AND action=?)'),
      expect.stringContaining('audit_actor (owner_id=? AND actor_id=?)'),
      expect.stringContaining('audit_subject (target_id=?)'),
    ]),
  )
})

test('deletes old records through an index', async () => {
  const plan = await plansOf((tx) => deleteRecordsBefore(tx, 9, 100))
  expect(plan.filter((step) => step.endsWith('audit_owner (owner_id=? AND created_at<?)'))).toHaveLength(2)
  expect(plan.filter((step) => /^SCAN (a|audit)\b/.test(step))).toEqual([])
})

test.each(['owner_id', 'app_id'] as const)(
  'lists records by %s and time through an index',
  async (column) => {
    const plan = await plansOf((tx) =>
      tx
        .selectFrom('audit')
        .selectAll()
        .where(column, '=', 'one')
        .where('created_at', '<', 9)
        .orderBy('created_at', 'desc')
        .limit(50)
        .execute(),
    )
    const index = column === 'owner_id' ? 'audit_owner' : 'audit_app'
    expect(plan).toEqual([`SEARCH audit USING INDEX ${index} (${column}=? AND created_at<?)`])
  },
)

const tables = tablesOf(modules)

test.each(tables.filter(({ isOfApp }) => isOfApp))(
  'deletes the rows of an app in $name through an index',
  async (table) => {
    const plan = await plansOf((tx) => deleteOfApp(tx, table, 'app_1', 100))
    expect(plan.length).toBeGreaterThan(0)
    expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
  },
)

test.each(tables.filter(({ expires }) => expires))(
  'finds expired rows of $name through an index',
  async (table) => {
    const plan = await plansOf((tx) => deleteExpired(tx, table, 1, 100))
    expect(plan).toContainEqual(expect.stringMatching(/[ (](expires_at|window_ends|until|kept_until)<\?/))
    expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
  },
)

test.each(tables.filter(({ isCount }) => isCount))(
  'finds empty rows of $name through their partial index',
  async (table) => {
    const plan = await plansOf((tx) => deleteEmptyCounts(tx, table, 100))
    expect(plan).toContainEqual(expect.stringContaining(`INDEX ${table.name}_empty`))
    expect(plan.filter((step) => step.startsWith('SCAN') && !step.includes(`${table.name}_empty`))).toEqual(
      [],
    )
  },
)

test('counts toward the free plan through partial indexes', async () => {
  const plan = await plansOf(async (tx) => {
    await readFreePlaces(tx, { id: 'app_1', license_count: 0 }, 30, 1)
    await hasRoomForFile(tx, 'app_1', 30, 1)
  })
  expect(plan).toContainEqual(expect.stringContaining('INDEX clients_unlicensed (app_id=? AND expires_at>?)'))
  expect(plan).toContainEqual(expect.stringContaining('INDEX clients_unlicensed_offline (app_id=?'))
  expect(plan).toContainEqual(expect.stringContaining('INDEX offline_activations_freed (app_id=?'))
  expect(plan).toContainEqual(expect.stringContaining('INDEX deleted_files_app (app_id=?'))
  expect(plan).toContainEqual(expect.stringContaining('INDEX licenses_client (client_id=?)'))
  expect(
    plan.filter((step) =>
      /^SCAN (?!found|with_time|without_license|of_freed|of_deleted|CONSTANT ROW)/.test(step),
    ),
  ).toEqual([])
})

test.each([
  ['owner', { scope }],
  ['app', { scope, appId: 'app_1' }],
  ['some apps', { scope: someApps }],
] as const)('finds a far page by the counts of each app (%s)', async (_, where) => {
  const target = { order: 'desc', offset: 500_000 } as const
  const plan = await plansOf((tx) =>
    findStart({ ...database, counts: tx }, 'licenses', { ...where, now: 1 }, target),
  )
  expect(plan).toContainEqual(expect.stringContaining('PRIMARY KEY (app_id=?)'))
  expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
})

test.each([undefined, 'unused', 'banned'] as const)(
  'pages and exports the licenses of some apps in the order of the index of each (%s)',
  async (status) => {
    const filter = { scope: someApps, status, now: 1 }
    const page = { page: 1, limit: 50, sort: 'newest' } as const
    const plan = await plansOf(async (tx) => {
      await findPage({ ...database, lists: tx }, { ...licenseList, count: async () => counts }, filter, page)
      await nextWindow({ ...database, db: tx as OpenDatabase['db'] }, licenseList, filter, 9, 500)
    })
    const ofApps = plan.filter((step) => / t /.test(step))
    expect(ofApps.length).toBeGreaterThanOrEqual(4)
    for (const step of ofApps)
      expect(step).toMatch(/^SEARCH t USING .*(PRIMARY KEY|INDEX license\w+) \(app_id=\?/)
  },
)

test.each([undefined, 'active', 'expired', 'banned'] as const)(
  'pages sorted by user read the rows of the filter by its index, and each name by others (%s)',
  async (status) => {
    const page = { page: 1, limit: 50, sort: 'user_a_to_z' } as const
    for (const [holder, where] of [
      ['owner', { scope }],
      ['app', { scope, appId: 'app_1' }],
      ['app', { scope: someApps }],
    ] as const) {
      for (const list of [licenseList, endUserList]) {
        const few = { ...counts, total: 9, [status ?? 'total']: 9 }
        const plan = await plansOf((tx) =>
          findPage(
            { ...database, lists: tx },
            { ...list, count: async () => few } as typeof licenseList,
            { ...where, status, now: 1 },
            page,
          ),
        )
        expect(plan).toContainEqual(
          expect.stringMatching(`^SEARCH t USING .*${list.table}_${holder}\\w* \\(${holder}_id=`),
        )
        expect(plan.filter((step) => !/^SEARCH \w+ USING .*\(/.test(step))).toEqual([])
      }
    }
  },
)

test.each([undefined, 'unused', 'active', 'expired', 'banned', 'expiring'] as const)(
  'pages of licenses and end users sorted by end read an index in its order (%s)',
  async (status) => {
    for (const [holder, where] of [
      ['owner', { scope }],
      ['app', { scope, appId: 'app_1' }],
      ['app', { scope: someApps }],
    ] as const) {
      const filter = { ...where, status, now: 1 }
      const target = { order: 'desc', offset: 9, limit: 50 } as const
      const plan = await plansOf(async (tx) => {
        const lists = { ...database, counts: tx }
        for (const list of [licenseList, licenseListBy('apart')]) {
          await endRows(lists, list, filter, target).execute(tx)
        }
      })
      const sorts = await plansOf(
        (tx) => endRows({ ...database, lists: tx }, licenseListBy('apart'), filter, target).execute(tx),
        /TEMP B-TREE/,
      )
      expect(sorts).toEqual([])
      const ends = plan.filter((step) => / t USING COVERING INDEX licenses_/.test(step))
      expect(ends.length).toBeGreaterThan(0)
      const index = status === 'banned' ? '_banned_expiry' : '_expiry'
      for (const step of ends) expect(step).toContain(`licenses_${holder}${index} (${holder}_id=?`)
      expect(plan).toContainEqual(expect.stringMatching(/SEARCH t USING .*(owner|app)_id/))
      expect(plan.filter((step) => step.startsWith('SCAN') && !/^SCAN \(subquery/.test(step))).toEqual([])
    }
  },
)

test.each(['unused', 'active', 'expired', 'expiring'] as const)(
  'leaves out banned licenses without reading a row (%s)',
  async (status) => {
    const list = licenseListBy('apart')
    for (const [holder, where] of [
      ['owner', { scope }],
      ['app', { scope, appId: 'app_1' }],
    ] as const) {
      for (const total of [fewMatches, fewMatches + 1]) {
        const plan = await plansOf(async (tx) => {
          const lists = { ...database, lists: tx, counts: tx }
          const count = async () => ({ ...counts, [status]: total })
          const filter = { ...where, status, now: 1 }
          await findPage(lists, { ...list, count }, filter, { page: 1, limit: 50, sort: 'newest' })
          await findPage(lists, { ...list, count }, filter, { page: 1, limit: 50, sort: 'expires_first' })
          await countEnding(lists, list, filter, { from: 1, to: 9 })
        })
        const read = plan.filter((step) => /SEARCH t .*INDEX licenses_/.test(step))
        expect(read.length).toBeGreaterThan(1)
        for (const step of read) expect(step).toMatch(`COVERING INDEX licenses_${holder}`)
      }
    }
    const plan = await plansOf(async (tx) => {
      const lists = { ...database, lists: tx, counts: tx }
      for (const origin of [{ typeId: 'lty_1' }, { resellerId: 'res_1' }])
        await sql`${list.ofOrigin(lists, { scope, status, now: 1, origin }, origin)}`.execute(tx)
    })
    expect(plan.length).toBeGreaterThan(1)
    for (const step of plan) expect(step).toMatch(/COVERING INDEX licenses_(type_expiry|reseller_counts)/)
  },
)

test.each([undefined, 'unused', 'active', 'expired', 'banned', 'expiring'] as const)(
  'licenses and end users of a type are found by its indexes (%s)',
  async (status) => {
    const filter = { scope, appId: 'app_1', status, now: 1 }
    const plan = await plansOf(async (tx) => {
      const lists = { ...database, lists: tx, counts: tx }
      for (const origin of [{ typeId: 'lty_1' }, { resellerId: 'res_1' }]) {
        await sql`${licenseList.ofOrigin(lists, { ...filter, origin }, origin)}`.execute(tx)
        const people = { ...filter, status: status === 'unused' ? undefined : status, origin }
        await sql`${endUserList.ofOrigin(lists, people, origin)}`.execute(tx)
      }
      await countLicenses(tx, 'app_1')
    })
    const licenses = plan.filter((step) => /INDEX licenses_/.test(step))
    expect(licenses.length).toBeGreaterThanOrEqual(5)
    for (const step of licenses)
      expect(step).toMatch(/licenses_(type|type_expiry|reseller|reseller_counts) \(/)
    expect(
      plan.filter((step) => step.startsWith('SCAN') && !/^SCAN (counted|\(subquery)/.test(step)),
    ).toEqual([])
  },
)

test('finds end users of an app by the first letters of a key from the keys', async () => {
  const filter = { scope, appId: 'app_1', now: 1 }
  const page = { page: 1, limit: 50, sort: 'newest' } as const
  const term = { text: 'ab', typed: 'ab', key: 'AB', short: true }
  const plan = await plansOf((tx) =>
    searchPage({ ...database, lists: tx }, endUserList, filter, page, term, 9),
  )
  expect(plan).toContainEqual(expect.stringMatching(/^SEARCH l .*key_normalized>\? AND key_normalized<\?/))
  expect(plan.filter((step) => / t USING (COVERING )?INDEX clients_/.test(step))).toEqual([])
})

test.each([undefined, 'active', 'expired', 'banned', 'expiring'] as const)(
  'of types and resellers with very many licenses, rows are walked in the order of an index (%s)',
  async (status) => {
    for (const origin of [{ typeId: 'lty_1' }, { resellerId: 'res_1' }]) {
      const filter = { scope, appId: 'app_1', status, now: 1, origin }
      for (const sort of ['newest', 'oldest', 'expires_first', 'expires_last'] as const) {
        const page = { page: 9, limit: 50, sort }
        const walk = async (tx: Tx) => {
          await walkOrigin({ ...database, lists: tx }, licenseList, filter, origin, page).execute(tx)
          await walkOrigin({ ...database, lists: tx }, endUserList, filter, origin, page).execute(tx)
        }
        expect(await plansOf(walk, /TEMP B-TREE/)).toEqual([])
        const plan = await plansOf(walk)
        const licenses = plan.filter((step) => step.startsWith('SEARCH o '))
        expect(licenses.length).toBeGreaterThan(0)
        for (const step of licenses) expect(step).toContain('INDEX licenses_client (client_id=?)')
        expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
      }
    }
  },
)

const counts = { total: 100_000, unused: 50_000, active: 0, expired: 0, banned: 30_000 }

const plansOfSearch = (
  text: string,
  total: number,
  of: Omit<ListFilter<ListedLicenseStatus>, 'scope' | 'now'>,
) =>
  plansOf((tx) => {
    const page = { page: 1, limit: 50, sort: 'newest' } as const
    const term = { text, typed: text, key: undefined, short: false }
    return searchPage({ ...database, lists: tx }, licenseList, { scope, now: 1, ...of }, page, term, total)
  })

test.each([
  ['licenses', licenseList],
  ['clients', endUserList],
] as const)('finds %s by what a text names through indexes, without a scan', async (_name, list) => {
  database.handles.writer.database.exec(`
    insert or ignore into owners (id, account_id, name, created_at) values ('own_n', 'acc_n', '', 1);
    insert or ignore into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at) values ('app_n', 'own_n', 'N', 'N', '', '', '', '', '', '1', 1);
    insert or ignore into resellers (id, owner_id, app_id, email, email_normalized, password_hash, allowed_license_keys,
      created_at) values ('res_n', 'own_n', 'app_n', 'partner@x.y', 'partner@x.y', '', 1, 1);
    insert or ignore into license_types (id, owner_id, app_id, name, name_normalized, term, grace_days, devices,
      seat_timeout_seconds, features, trial, resellable, created_at)
      values ('lty_n', 'own_n', 'app_n', 'Partner', 'partner', 'date', 0, 1, 600, '[]', 0, 0, 1);
    insert or ignore into customers (id, owner_id, email, email_normalized, created_at)
      values ('cus_n', 'own_n', 'partner@z.y', 'partner@z.y', 1)`)
  const known: OwnerScope = {
    ...allApps('own_n'),
    permissions: new Set(['clients:read', 'licenses:read', 'resellers:read']),
  }
  const plan = await plansOf((tx) => {
    const page = { page: 1, limit: 50, sort: 'newest' } as const
    const term = toSearchTerm('partner') as SearchTerm
    return searchPage({ ...database, lists: tx }, list, { scope: known, now: 1 }, page, term, 100_000)
  })
  for (const index of ['licenses_reseller', 'licenses_type', 'resellers_owner', 'license_types_owner']) {
    expect(plan).toContainEqual(expect.stringContaining(`INDEX ${index} `))
  }
  for (const index of [
    'customers_email',
    'licenses_customer',
    'clients_customer',
    'shop_orders_owner_number',
  ]) {
    expect(plan).toContainEqual(expect.stringMatching(`INDEX ${index} `))
  }
  const scans = plan.filter((step) => step.startsWith('SCAN'))
  expect(scans.filter((step) => !/VIRTUAL TABLE|^SCAN (way|hits|shown|counted|s|\()/.test(step))).toEqual([])
})

const addTexts = (text: string, seqs: number[]) =>
  database.handles.writer.database
    .prepare('insert into license_search (rowid, body) select value, ? from json_each(?)')
    .run(text, JSON.stringify(seqs))

test('scans the rows of a filter for a text that more rows have', async () => {
  addTexts(
    'summer sale',
    Array.from({ length: 10_000 }, (_, at) => at + 1),
  )
  const scanned = 'SEARCH t USING INDEX licenses_owner_banned (owner_id=?)'
  expect(await plansOfSearch('summer sale', 9_999, { status: 'banned' })).toContain(scanned)
  expect(await plansOfSearch('summer sale', 10_000, { status: 'banned' })).not.toContain(scanned)
})

test("rejects hits of a text in the filter's index, without reading them", async () => {
  const rejected = (index: string) => expect.stringMatching(`INDEX ${index} \\(.* AND seq=\\?`)
  expect(await plansOfSearch('autumn term', 19_000, { status: 'banned' })).toContainEqual(
    rejected('licenses_owner_banned'),
  )
  expect(await plansOfSearch('autumn term', 30_000, { status: 'expired' })).toContainEqual(
    rejected('licenses_owner'),
  )
  const inApp = await plansOfSearch('autumn term', 30_000, { appId: 'app_1' })
  expect(inApp).toContainEqual(rejected('licenses_app'))
  expect(inApp).toContainEqual(rejected('clients_app'))
})
