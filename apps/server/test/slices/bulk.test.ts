import { type Client, endpoints, type License } from '@keyward/contract'
import { expect, test } from 'vitest'
import { makeApp, makeLicenses, type Owner, registerUser } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, ownerForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const day = 86_400_000
const on = serverForAll()
const owner = premiumOwnerForAll(on)
const other = ownerForAll(on)
const app = appForAll(owner)

const idsOf = (rows: { _id: string }[]) => rows.map((row) => row._id)
const findLicense = async (key: string): Promise<License> =>
  (await owner.call('GET', `/licenses?search=${key}`)).json.data.licenses[0]
const findEndUser = async (username: string): Promise<Client> =>
  (await owner.call('GET', `/clients?search=${username}`)).json.data.clients[0]

test('extends many licenses from the later of now and their expiry, together with their end users', async () => {
  const { license, user } = await registerUser(on, owner, app, 'extended')
  const [unused] = await makeLicenses(on, owner, app, 1, 3)
  const ids = [license._id, unused?._id, license._id]
  const { status, json } = await owner.call('POST', '/licenses/bulk', { action: 'extend', ids, days: 10 })
  expect(status).toBe(200)
  expect(json.data).toMatchObject({ action: 'extend', changed: 2 })
  expect(json.data.licenses.map((one: License) => one.expiresAt)).toEqual([
    on.clock.inDays(40),
    on.clock.inDays(13),
  ])
  expect((await findEndUser(user.username)).expiresAt).toBe(on.clock.inDays(40))
})

test('bans, unbans and deletes many licenses', async () => {
  const ids = idsOf(await makeLicenses(on, owner, app, 3))
  const banned = await owner.call('POST', '/licenses/bulk', { action: 'ban', ids })
  expect(banned.json.data.licenses.map((one: License) => one.status)).toEqual(Array(3).fill('banned'))
  const again = await owner.call('POST', '/licenses/bulk', { action: 'ban', ids })
  expect(again.json.data.licenses.every((one: License) => one.banned)).toBe(true)
  const unbanned = await owner.call('POST', '/licenses/bulk', { action: 'unban', ids })
  expect(unbanned.json.data.licenses.map((one: License) => one.status)).toEqual(Array(3).fill('unused'))
  const { license, user } = await registerUser(on, owner, app, 'left-behind')
  const deleted = await owner.call('POST', '/licenses/bulk', { action: 'delete', ids: [...ids, license._id] })
  expect(deleted.json.data).toEqual({ action: 'delete', changed: 4, licenses: [], undo: [] })
  expect(await findEndUser(user.username)).toMatchObject({ status: 'expired', licenseKey: null })
  expect(await findLicense(license.key)).toBeUndefined()
})

test('changes nothing if one id is missing or belongs to another owner', async () => {
  const [mine] = await makeLicenses(on, owner, app)
  const [theirs] = await makeLicenses(on, other, await makeApp(other))
  for (const rejectedId of [theirs?._id, 'lic_0']) {
    for (const action of ['ban', 'delete']) {
      const refused = await owner.call('POST', '/licenses/bulk', { action, ids: [mine?._id, rejectedId] })
      expect([refused.status, refused.json.code]).toEqual([404, 'not_found'])
    }
  }
  expect(await findLicense(mine?.key ?? '')).toMatchObject({ banned: false })
})

test.each([
  ['no ids', { action: 'ban', ids: [] }, 'ids'],
  ['too many ids', { action: 'ban', ids: Array.from({ length: 201 }, (_, at) => `lic_${at}`) }, 'ids'],
  ['extending by nothing', { action: 'extend', ids: ['x'] }, 'days'],
  ['banning by days', { action: 'ban', ids: ['x'], days: 3 }, 'days'],
  ['unbanning with a reason', { action: 'unban', ids: ['x'], reason: 'late' }, 'reason'],
  ['extending in two ways', { action: 'extend', ids: ['x'], days: 3, expiresAt: null }, 'days'],
  [
    'more than ten years',
    { action: 'extend', ids: ['x'], duration: { value: 121, unit: 'months' } },
    'duration.value',
  ],
  [
    'an unknown time zone',
    { action: 'extend', ids: ['x'], duration: { value: 1, unit: 'days' }, timeZone: 'Mars/Olympus' },
    'timeZone',
  ],
  ['a time zone of days', { action: 'extend', ids: ['x'], days: 1, timeZone: 'UTC' }, 'timeZone'],
  ['shortening by days', { action: 'extend', ids: ['x'], days: 1, shorten: true }, 'shorten'],
  ['an unknown action', { action: 'sell', ids: ['x'] }, 'action'],
])('rejects %s', async (_name, body, path) => {
  for (const noun of ['licenses', 'clients']) {
    const { status, json } = await owner.call('POST', `/${noun}/bulk`, body)
    expect([status, json.errors[0].path]).toEqual([400, path])
  }
})

test('changes many end users like single ones', async () => {
  const one = await registerUser(on, owner, app, 'bulk-one')
  const two = await registerUser(on, owner, app, 'bulk-two')
  const ids = idsOf([one.user, two.user])
  const bulk = async (action: string, days?: number) =>
    (await owner.call('POST', '/clients/bulk', { action, ids, days })).json.data
  expect((await bulk('extend', 5)).clients.map((client: Client) => client.expiresAt)).toEqual(
    Array(2).fill(on.clock.inDays(35)),
  )
  expect((await findLicense(one.license.key)).expiresAt).toBe(on.clock.inDays(35))
  expect((await bulk('ban')).clients.map((client: Client) => client.status)).toEqual(['banned', 'banned'])
  expect((await bulk('unban')).clients.map((client: Client) => client.status)).toEqual(['active', 'active'])
  await one.program.call('POST', '/login', { username: 'bulk-one', password: 'swordfish', hwid: 'pc-1' })
  expect((await findEndUser('bulk-one')).hwid).toBe('pc-1')
  expect((await bulk('reset-hwid')).clients.map((client: Client) => client.hwid)).toEqual([null, null])
  const foreign = await other.call('POST', '/clients/bulk', { action: 'delete', ids })
  expect(foreign.status).toBe(404)
  expect(await bulk('delete')).toEqual({ action: 'delete', changed: 2, clients: [], undo: [] })
  expect(await findEndUser('bulk-one')).toBeUndefined()
  expect(await findLicense(one.license.key)).toMatchObject({ used: false, usedBy: null })
})

test('concurrent extensions add up', async () => {
  const [license] = await makeLicenses(on, owner, app)
  const body = { action: 'extend', ids: [license?._id], days: 1 }
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => owner.call('POST', '/licenses/bulk', body)),
  )
  expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200))
  expect((await findLicense(license?.key ?? '')).expiresAt).toBe(on.clock.inDays(38))
})

test('caps an expiry at the end of the year 9999', async () => {
  const { status, json } = await owner.call('POST', '/licenses', {
    app: app._id,
    expiresAt: '9999-12-31T23:59:59-12:00',
  })
  expect(status).toBe(201)
  const ids = [json.data.license._id]
  const extended = await owner.call('POST', '/licenses/bulk', { action: 'extend', ids, days: 3650 })
  expect(extended.json.data.licenses[0].expiresAt).toBe('9999-12-31T23:59:59.999Z')
})

test('concurrent bulk and single changes of the same rows all succeed, in any order', async () => {
  const users = []
  for (let at = 0; at < 6; at += 1) users.push(await registerUser(on, owner, app, `crowd-${at}`))
  const licenses = users.map(({ license }) => license._id)
  const clients = users.map(({ user }) => user._id)
  const answers = await Promise.all([
    ...[licenses, licenses.toReversed()].map((ids) =>
      owner.call('POST', '/licenses/bulk', { action: 'extend', ids, days: 1 }),
    ),
    ...[clients, clients.toReversed()].map((ids) =>
      owner.call('POST', '/clients/bulk', { action: 'extend', ids, days: 1 }),
    ),
    ...licenses.map((id) => owner.call('PATCH', `/licenses/${id}/toggle-ban`)),
    ...clients.map((id) => owner.call('PATCH', `/clients/${id}/extend`, { days: 1 })),
  ])
  expect(answers.map((answer) => answer.status)).toEqual(Array(answers.length).fill(200))
  for (const { license, user } of users) {
    const { expiresAt } = await findLicense(license.key)
    expect((await findEndUser(user.username)).expiresAt).toBe(expiresAt)
  }
})

test('sorts lists from either end across pages', async () => {
  const own = await makeApp(owner, 'Sorted')
  const made = idsOf(await makeLicenses(on, owner, own, 5))
  const page = async (query: string) =>
    idsOf((await owner.call('GET', `/licenses?app=${own._id}&limit=2&${query}`)).json.data.licenses)
  for (const [sort, expected] of [
    ['oldest', made],
    ['newest', made.toReversed()],
  ] as const) {
    for (const extra of ['', '&status=unused']) {
      const pages = [1, 2, 3, 4].map((number) => page(`sort=${sort}&page=${number}${extra}`))
      expect((await Promise.all(pages)).flat()).toEqual(expected)
    }
  }
  expect(await page('sort=oldest&search=-')).toEqual([])
  for (const username of ['sort-a', 'sort-b']) await registerUser(on, owner, own, username)
  const names = async (query: string) =>
    (await owner.call('GET', `/clients?app=${own._id}&${query}`)).json.data.clients.map(
      (client: Client) => client.username,
    )
  expect(await names('sort=oldest')).toEqual(['sort-a', 'sort-b'])
  expect(await names('sort=oldest&search=sort')).toEqual(['sort-a', 'sort-b'])
  expect(await names('search=sort')).toEqual(['sort-b', 'sort-a'])
  expect((await owner.call('GET', '/licenses?sort=cheapest')).status).toBe(400)
})

test('a CSV export ends with the addresses of customers, for callers who may read them', async () => {
  const own = await makeApp(owner, 'Sold')
  const license = { app: own._id, expiresAt: on.clock.inDays(5) }
  // 201 rows are three slices.
  await makeLicenses(on, owner, own, 99)
  await makeLicenses(on, owner, own, 100)
  const soldTo = async (customer: string) =>
    (await owner.call('POST', '/licenses', { ...license, customer })).json.data.license as License
  const sold = [await soldTo('Ada@engines.example'), await soldTo('+grace@navy.example')]
  await owner.call('POST', '/clients/create-direct', {
    ...{ username: 'ada', password: 'secret1', appId: own._id, expiresAt: null, customer: sold[0]?.customer },
  })
  const lastCells = async (path: string, by: Pick<Owner, 'call'>) => {
    const { raw } = await by.call('GET', `${path}?format=csv&app=${own._id}`)
    return String(raw)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',').at(-1))
  }
  const [head, grace, ada, ...others] = await lastCells('/licenses/export', owner)
  expect([head, grace, ada]).toEqual(['customer', "'+grace@navy.example", 'Ada@engines.example'])
  expect(others).toEqual(Array.from({ length: 199 }, () => ''))
  expect(await lastCells('/clients/export', owner)).toEqual(['customer', 'Ada@engines.example'])

  const limited = await makeApiKey(on, owner, { permissions: ['licenses:read'] })
  expect((await lastCells('/licenses/export', limited))[0]).toBe('test')
  const ofApp = await makeApiKey(on, owner, {
    permissions: ['licenses:read', 'clients:read'],
    apps: [own._id],
  })
  expect((await lastCells('/licenses/export', ofApp)).slice(0, 3)).toEqual([head, grace, ada])
  const { json } = await owner.call('GET', `/licenses/export?format=json&app=${own._id}`)
  expect(json.slice(0, 2).map((row: License) => row.customer)).toEqual(
    sold.map(({ customer }) => customer).toReversed(),
  )

  await owner.call('DELETE', `/customers/${sold[0]?.customer}`)
  expect((await lastCells('/licenses/export', owner)).slice(0, 3)).toEqual([head, grace, ''])
})

test('exports the whole filtered set, newest first, as CSV and JSON', async () => {
  const own = await makeApp(owner, 'Exported, "all"')
  const license = { app: own._id, expiresAt: on.clock.inDays(5), note: '=HYPERLINK("http://x")' }
  await owner.call('POST', '/licenses', license)
  const many: License[] = []
  for (let slice = 0; slice < 12; slice += 1) {
    many.push(...((await makeLicenses(on, owner, own, 100, slice % 2 ? 9 : 1)) as License[]))
  }
  const csv = await owner.call('GET', `/licenses/export?format=csv&app=${own._id}`)
  expect(csv.status).toBe(200)
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(csv.headers['content-disposition']).toBe('attachment; filename="licenses-2026-03-04.csv"')
  const lines = String(csv.raw).split('\r\n')
  expect(lines[0]).toBe(
    'key,app,appId,status,used,usedBy,usedAt,banned,note,reseller,createdAt,expiresAt,_id,term,duration,startedAt,graceDays,devices,seats,seatTimeoutSeconds,features,updatesForDays,trial,type,banReason,test,customer',
  )
  expect(lines).toHaveLength(1 + 1201 + 1)
  expect(lines[1]).toContain(many.at(-1)?.key)
  expect(lines[1]).toContain('"Exported, ""all"""')
  expect(lines.at(-2)).toContain(`"'=HYPERLINK(""http://x"")"`)

  const all = await owner.call('GET', `/licenses/export?format=json&app=${own.appId}`)
  expect(all.headers['content-disposition']).toBe('attachment; filename="licenses-2026-03-04.json"')
  expect(idsOf(all.json)).toEqual([...idsOf(many).reverse(), expect.stringMatching(/^lic_/)])
  for (const row of all.json) endpoints.licenses.update.data.shape.license.parse(row)

  on.clock.advance(2 * day)
  const expired = await owner.call('GET', `/licenses/export?format=json&app=${own._id}&status=expired`)
  expect(expired.json).toHaveLength(600)
  const key = many[7]?.key
  const found = await owner.call('GET', `/licenses/export?format=json&search=${key}`)
  expect(found.json.map((row: License) => row.key)).toEqual([key])
  const empty = await owner.call('GET', `/licenses/export?format=json&app=${own._id}&status=banned`)
  expect(empty.json).toEqual([])
  const two = idsOf(many.slice(3, 5))
  await owner.call('POST', '/licenses/bulk', { action: 'ban', ids: two })
  const banned = await owner.call('GET', `/licenses/export?format=json&app=${own._id}&status=banned`)
  expect(idsOf(banned.json)).toEqual(two.toReversed())
})

test('exports only the end users of the filter and of this owner', async () => {
  const own = await makeApp(owner, 'People')
  const { user } = await registerUser(on, owner, own, 'exported')
  const csv = await owner.call('GET', `/clients/export?format=csv&app=${own._id}`)
  const [head, line] = String(csv.raw).split('\r\n')
  expect(head).toBe(
    'username,email,app,appId,status,banned,hwid,licenseKey,createdAt,expiresAt,lastLoginAt,_id,graceDays,testLicense,customer',
  )
  expect(line).toContain(`exported,,People,${own.appId},active,false,,`)
  const json = await owner.call('GET', '/clients/export?format=json&search=exported&status=active')
  expect(idsOf(json.json)).toEqual([user._id])
  expect((await other.call('GET', '/clients/export?format=json')).json).toEqual([])
  expect((await other.call('GET', `/clients/export?format=json&app=${own._id}`)).status).toBe(404)
  expect((await other.call('GET', '/clients/export?format=xlsx')).status).toBe(400)
  expect((await on.call('GET', '/clients/export?format=csv')).status).toBe(401)
})
