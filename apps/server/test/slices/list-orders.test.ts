// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { ListedLicenseStatus } from '@keyward/contract'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { allApps, type OwnerScope } from '../../src/core/actor.ts'
import { hour } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { endRows } from '../../src/db/lists/ends.ts'
import type { ListFilter } from '../../src/db/lists/list-filters.ts'
import { walkNamed } from '../../src/db/lists/named.ts'
import { walkOrigin } from '../../src/db/lists/origins.ts'
import { never } from '../../src/db/stored-end.ts'
import { endUserList } from '../../src/modules/end-users/end-users.list.ts'
import { licenseList, licenseListBy } from '../../src/modules/licenses/licenses.list.ts'
import {
  activateKey,
  makeApp,
  makePremium,
  makeType,
  type Owner,
  refusal,
  signUp,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const other = appForAll(owner)

interface Row {
  seq: number
  appId: string
  used: number
  banned: number
  ends: number
  typeId: string | null
}

let rows: Row[] = []
let type: { _id: string }
/** Ends around now, some of them equal and within the hours that are counted by row, and some that never come. */
beforeAll(async () => {
  const now = on.clock.now()
  type = await makeType(owner, app)
  await on.database.db.updateTable('apps').set({ name: 'aardvark' }).where('id', '=', other._id).execute()
  rows = Array.from({ length: 120 }, (_, at) => ({
    seq: 5000 + at * 4800 + (at % 3),
    appId: at % 4 === 0 ? other._id : app._id,
    used: at % 3 === 0 ? 1 : 0,
    banned: at % 7 === 0 ? 1 : 0,
    ends: at % 5 === 0 ? never : now + ((at * 37) % 50) * 20 * hour - 400 * hour + (at % 2),
    typeId: at % 4 !== 0 && at % 2 === 1 ? type._id : null,
  }))
  const overriding = on.database.dialect === 'postgres' ? sql`overriding system value` : sql``
  for (const row of rows) {
    const key = `K${row.seq}`
    await sql`insert into licenses
      (seq, id, owner_id, app_id, key, key_normalized, used, banned, expires_at, created_at, type_id, note)
      ${overriding} values (${row.seq}, ${newId('lic')}, ${owner.id}, ${row.appId}, ${key}, ${key},
        ${row.used}, ${row.banned}, ${row.ends}, ${now}, ${row.typeId}, 'summer sale')`.execute(
      on.database.db,
    )
  }
})

const meets: Record<ListedLicenseStatus | 'total', (row: Row, now: number) => boolean> = {
  total: () => true,
  unused: (row, now) => row.used === 0 && row.ends > now,
  active: (row, now) => row.used === 1 && row.ends > now,
  expired: (row, now) => row.ends <= now,
  banned: (row) => row.banned === 1,
  expiring: (row, now) => row.used === 1 && row.ends > now && row.ends <= now + 168 * hour,
}
const leavesOut = (banned: 'apart' | undefined, status: string, row: Row) =>
  banned === 'apart' && status !== 'total' && status !== 'banned' && row.banned === 1
const statuses = ['total', 'unused', 'active', 'expired', 'banned', 'expiring'] as const
const statusOf = (status: (typeof statuses)[number]) => (status === 'total' ? undefined : status)

const byEnd = (some: readonly Row[]) => some.toSorted((a, b) => a.ends - b.ends || a.seq - b.seq)
const keysOf = (some: readonly Row[]) => some.map(({ seq }) => `K${seq}`)

const scopes = {
  owner: () => ({ scope: allApps(owner.id), appId: undefined }),
  app: () => ({ scope: allApps(owner.id), appId: app._id }),
  'some apps': () => ({ scope: someApps(), appId: undefined }),
}
const someApps = (): OwnerScope => ({ ownerId: owner.id, apps: new Set([app._id, other._id]) })

describe.each([
  ['owner', undefined],
  ['app', undefined],
  ['some apps', undefined],
  ['owner', 'apart'],
  ['app', 'apart'],
] as const)('sorted by end, licenses of the %s with bans %s', (scope, banned) => {
  test.each(statuses.filter((status) => status !== 'expiring'))(
    'have the rows of a far page that a scan of all rows finds (%s)',
    async (status) => {
      const now = on.clock.now()
      const filter: ListFilter<ListedLicenseStatus> = { ...scopes[scope](), status: statusOf(status), now }
      const mine = byEnd(
        rows.filter(
          (row) =>
            (scope !== 'app' || row.appId === app._id) &&
            meets[status](row, now) &&
            !leavesOut(banned, status, row),
        ),
      )
      expect(mine.length).toBeGreaterThan(5)
      const list = licenseListBy(banned)
      for (const order of ['asc', 'desc'] as const) {
        const inOrder = (order === 'asc' ? mine : mine.toReversed()).map(({ seq }) => seq)
        for (let offset = 0; offset < mine.length; offset += 3) {
          const target = { order, offset, limit: Math.min(4, mine.length - offset) }
          const found = await sql<{
            seq: number
          }>`${endRows(on.database, list, filter, target)}`.execute(on.database.lists)
          expect(found.rows.map(({ seq }) => seq)).toEqual(inOrder.slice(offset, offset + 4))
        }
      }
    },
  )
})

const pagesOf = async (caller: Pick<Owner, 'call'>, query: string, limit = 7) => {
  const found: string[] = []
  for (let page = 1; ; page += 1) {
    const { json } = await caller.call('GET', `/licenses?${query}&limit=${limit}&page=${page}`)
    found.push(...json.data.licenses.map((one: { key: string }) => one.key))
    if (json.data.licenses.length < limit) return found
  }
}

const statusesAndBans = statuses.flatMap((status) =>
  ([undefined, 'apart'] as const).map((banned) => ({ status, banned })),
)

test.each(statusesAndBans)(
  'pages by end hold every license once, in lists and searches ($status, bans $banned)',
  async ({ status, banned }) => {
    const now = on.clock.now()
    const mine = byEnd(rows.filter((row) => meets[status](row, now) && !leavesOut(banned, status, row)))
    const filter = `${status === 'total' ? '' : `status=${status}&`}${banned ? 'banned=apart&' : ''}`
    expect(await pagesOf(owner, `${filter}sort=expires_first`)).toEqual(keysOf(mine))
    expect(await pagesOf(owner, `${filter}sort=expires_last`)).toEqual(keysOf(mine).toReversed())
    expect(await pagesOf(owner, `${filter}sort=expires_last&search=summer`, 50)).toEqual(
      keysOf(mine).toReversed(),
    )
    expect(await pagesOf(owner, `${filter}sort=expires_first&search=summer`, 50)).toEqual(keysOf(mine))
  },
)

test.each(statusesAndBans)(
  'a type filters lists, searches, ids and exports, in every order ($status, bans $banned)',
  async ({ status, banned }) => {
    const now = on.clock.now()
    const mine = rows.filter(
      (row) => row.typeId === type._id && meets[status](row, now) && !leavesOut(banned, status, row),
    )
    const query = `type=${type._id}${status === 'total' ? '' : `&status=${status}`}${banned ? '&banned=apart' : ''}`
    expect(await pagesOf(owner, `${query}&sort=oldest`)).toEqual(keysOf(mine))
    expect(await pagesOf(owner, query)).toEqual(keysOf(mine).toReversed())
    expect(await pagesOf(owner, `${query}&app=${app._id}&sort=expires_first`)).toEqual(keysOf(byEnd(mine)))
    expect(await pagesOf(owner, `${query}&search=summer`, 50)).toEqual(keysOf(mine).toReversed())
    const exported = await owner.call('GET', `/licenses/export?format=json&${query}`)
    expect(exported.json.map((one: { key: string }) => one.key)).toEqual(keysOf(mine).toReversed())
    const { ids, capped } = (await owner.call('GET', `/licenses/ids?${query}`)).json.data
    expect([ids, capped]).toEqual([exported.json.map((one: { _id: string }) => one._id), false])
  },
)

test.each(statuses)(
  'sorted by app and type, pages hold every license once, also of many (%s)',
  async (status) => {
    const now = on.clock.now()
    const mine = rows.filter((row) => meets[status](row, now)).toReversed()
    const names = {
      app: (row: Row) => (row.appId === app._id ? app.name.toLowerCase() : 'aardvark'),
      type: (row: Row) => (row.typeId === null ? '' : 'one'),
    }
    const few = { total: 1_000_000, most: 30 }
    for (const [by, nameOf] of Object.entries(names) as ['app' | 'type', (row: Row) => string][]) {
      const named = [...new Set(mine.map(nameOf))].filter(Boolean).sort()
      for (const [order, groups] of [
        ['a_to_z', named],
        ['z_to_a', named.toReversed()],
      ] as const) {
        const inOrder = [...groups, ''].flatMap((name) => mine.filter((row) => nameOf(row) === name))
        const query = `${status === 'total' ? '' : `status=${status}&`}sort=${by}_${order}`
        expect(await pagesOf(owner, query, 20)).toEqual(keysOf(inOrder))
        const filter = { scope: someApps(), status: statusOf(status), now }
        const walked = await walkNamed(on.database, licenseList, filter, `${by}_${order}`, few)
        expect(walked).toEqual(inOrder.slice(0, 30).map(({ seq }) => seq))
      }
    }
  },
)

test('end users are sorted by app; searches and lists of a type or reseller are not', async () => {
  for (const query of ['search=summer', `type=${type._id}`]) {
    expect(wrongFields(await owner.call('GET', `/licenses?sort=app_a_to_z&${query}`))).toEqual(['sort'])
  }
  expect(wrongFields(await owner.call('GET', '/clients?sort=type_a_to_z'))).toEqual(['sort'])
  const { clients } = (await owner.call('GET', '/clients?sort=app_z_to_a')).json.data
  expect(clients).toEqual([])
})

test('counts what the filters show, with bans apart too', async () => {
  const now = on.clock.now()
  for (const banned of [undefined, 'apart'] as const) {
    const query = banned ? '?banned=apart' : ''
    const of = (status: (typeof statuses)[number], some = rows) =>
      some.filter((row) => meets[status](row, now) && !leavesOut(banned, status, row)).length
    const counts = (some?: Row[]) => ({
      total: of('total', some),
      active: of('active', some),
      unused: of('unused', some),
      expired: of('expired', some),
      banned: of('banned', some),
    })
    const { stats } = (await owner.call('GET', `/licenses${query}`)).json.data
    expect(stats).toEqual(counts())
    const board = (await owner.call('GET', `/resellers/dashboard/data${query}`)).json.data.stats
    expect([board.totalLicenses.value, board.activeLicenses.value, board.expiringSoon.value]).toEqual([
      rows.length,
      of('active'),
      of('expiring'),
    ])
    const ofApp = (await owner.call('GET', `/apps/${app._id}/stats${query}`)).json.data.stats
    const mine = counts(rows.filter((row) => row.appId === app._id))
    expect(ofApp).toMatchObject({
      totalLicenses: mine.total,
      activeLicenses: mine.active,
      unusedLicenses: mine.unused,
      expiredLicenses: mine.expired,
      bannedLicenses: mine.banned,
    })
  }
  expect(refusal(await owner.call('GET', '/licenses?banned=no'))).toBe('invalid_input')
})

test.each(statuses)('a type with very many licenses is walked in the same order (%s)', async (status) => {
  const now = on.clock.now()
  const mine = rows.filter((row) => row.typeId === type._id && meets[status](row, now))
  const origin = { typeId: type._id }
  const filter = { ...scopes.app(), status: statusOf(status), origin, now }
  const ordered = { oldest: mine, newest: mine.toReversed(), expires_first: byEnd(mine) }
  for (const [sort, inOrder] of Object.entries(ordered) as [keyof typeof ordered, Row[]][]) {
    for (const page of [1, 2]) {
      const query = walkOrigin(on.database, licenseList, filter, origin, { page, limit: 5, sort })
      const found = await sql<{ seq: number }>`${query}`.execute(on.database.lists)
      expect(found.rows.map(({ seq }) => seq)).toEqual(
        inOrder.slice(page * 5 - 5, page * 5).map(({ seq }) => seq),
      )
    }
  }
})

test('a type lists how many licenses it has, and one of another app matches nothing', async () => {
  const { licenseTypes } = (await owner.call('GET', `/apps/${app._id}/license-types`)).json.data
  const count = rows.filter((row) => row.typeId === type._id).length
  expect(licenseTypes).toEqual([expect.objectContaining({ _id: type._id, licenses: count })])
  const { licenses, pagination, stats } = (
    await owner.call('GET', `/licenses?app=${other._id}&type=${type._id}`)
  ).json.data
  expect([licenses, pagination.total]).toEqual([[], 0])
  expect(stats.total).toBe(rows.filter((row) => row.appId === other._id).length)
})

describe('by type and reseller', () => {
  let vendor: Owner
  let atlas: Awaited<ReturnType<typeof makeApp>>
  let reseller: Awaited<ReturnType<typeof makeReseller>>
  let gold: { _id: string }
  beforeAll(async () => {
    vendor = await signUp(on)
    await makePremium(on, vendor)
    atlas = await makeApp(vendor, 'Origins')
    gold = await makeType(vendor, atlas, { name: 'Gold', resellable: true })
    reseller = await makeReseller(on, vendor, atlas)
    await reseller.call('POST', '/licenses', { type: gold._id, count: 2 })
  })
  const resellerId = async () => (await vendor.call('GET', '/resellers')).json.data.resellers[0]._id as string

  test('end users are those with such a license', async () => {
    const made = await vendor.call('POST', '/licenses', { app: atlas._id, type: gold._id })
    const { license } = made.json.data
    const plain = await activateKey(on, vendor, atlas)
    const { json } = await plain.program.call('POST', '/license', { licenseKey: license.key })
    const { user } = json.data
    for (const sort of ['newest', 'oldest', 'expires_first', 'expires_last']) {
      for (const filter of [
        `type=${gold._id}`,
        `type=${gold._id}&status=active`,
        `type=${gold._id}&search=${license.key}`,
      ]) {
        const { clients, pagination } = (await vendor.call('GET', `/clients?${filter}&sort=${sort}`)).json
          .data
        expect(clients.map((one: { _id: string }) => one._id)).toEqual([user._id])
        expect(pagination.total).toBe(1)
      }
    }
    const all = (await vendor.call('GET', '/clients/ids')).json.data.ids
    expect(all).toEqual([user._id, plain.user._id])
    expect((await vendor.call('GET', `/clients/ids?type=${gold._id}`)).json.data.ids).toEqual([user._id])
    const exported = await vendor.call('GET', `/clients/export?format=json&type=${gold._id}`)
    expect(exported.json.map((one: { _id: string }) => one._id)).toEqual([user._id])
    expect((await vendor.call('GET', `/clients?reseller=${await resellerId()}`)).json.data.clients).toEqual(
      [],
    )
  })

  test('licenses of a reseller are listed alone, and with its type', async () => {
    const id = await resellerId()
    for (const filter of [
      `reseller=${id}`,
      `reseller=${id}&type=${gold._id}`,
      `reseller=${id}&sort=expires_last`,
    ]) {
      const { licenses } = (await vendor.call('GET', `/licenses?${filter}`)).json.data
      expect(licenses.map((one: { reseller: { _id: string } }) => one.reseller._id)).toEqual([id, id])
    }
  })

  test('end users of a type with very many licenses are walked in the same order', async () => {
    const edition = await makeType(vendor, atlas, { name: 'Walked' })
    const users: { _id: string; typed: boolean }[] = []
    for (let at = 0; at < 9; at += 1) {
      const body = at % 3 === 2 ? { duration: { value: 9, unit: 'days' } } : { type: edition._id }
      const made = await vendor.call('POST', '/licenses', { app: atlas._id, ...body })
      const program = await startProgram(on, atlas)
      const key = { licenseKey: made.json.data.license.key }
      const user = (await program.call('POST', '/license', key)).json.data.user
      users.push({ _id: user._id, typed: at % 3 !== 2 })
      await vendor.call('PATCH', `/clients/${user._id}/extend`, { days: ((at * 7) % 5) + 1 })
      if (at === 4) await vendor.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: true })
    }
    expect(users.filter(({ typed }) => typed)).toHaveLength(6)
    const origin = { typeId: edition._id }
    for (const status of [undefined, 'active', 'banned', 'expiring', 'expired'] as const) {
      const now = on.clock.now()
      const filter = { scope: allApps(vendor.id), appId: atlas._id, status, origin, now }
      for (const sort of ['newest', 'oldest', 'expires_first', 'expires_last'] as const) {
        for (const page of [1, 2]) {
          const walk = walkOrigin(on.database, endUserList, filter, origin, { page, limit: 4, sort })
          const query = sql<{
            id: string
          }>`select c.id as id from (${walk}) w join clients c on c.seq = w.seq`
          const walked = (await query.execute(on.database.lists)).rows.map(({ id }) => id)
          const ofStatus = status === undefined ? '' : `&status=${status}`
          const path = `/clients?type=${edition._id}&sort=${sort}&limit=4&page=${page}${ofStatus}`
          const { clients } = (await vendor.call('GET', path)).json.data
          const listed = clients.map((one: { _id: string }) => one._id)
          expect(walked.toSorted()).toEqual(listed.toSorted())
          if (status === undefined) expect(listed).toHaveLength(page === 1 ? 4 : 2)
        }
      }
    }
  })

  test('a stranger finds neither, and a role or key without resellers may not filter by one', async () => {
    const id = await resellerId()
    const stranger = await signUp(on)
    for (const path of [
      '/licenses',
      '/licenses/ids',
      '/licenses/export',
      '/clients',
      '/clients/ids',
      '/clients/export',
    ]) {
      for (const query of [`type=${gold._id}`, `reseller=${id}`, 'type=lty_0', 'reseller=res_0']) {
        const { status, json } = await stranger.call('GET', `${path}?${query}`)
        expect([status, json.code]).toEqual([404, 'not_found'])
      }
    }
    const support = await addMember(on, vendor, { role: 'support' })
    const key = await makeApiKey(on, vendor, { permissions: ['licenses:read', 'clients:read'] })
    for (const caller of [support, key]) {
      expect(refusal(await caller.call('GET', `/licenses?reseller=${id}`))).toBe('permission_missing')
      expect(refusal(await caller.call('GET', `/clients/ids?reseller=${id}`))).toBe('permission_missing')
      expect((await caller.call('GET', `/licenses?type=${gold._id}`)).status).toBe(200)
    }
  })

  test('a member with other apps finds neither', async () => {
    const elsewhere = await makeApp(vendor, 'Elsewhere')
    const member = await addMember(on, vendor, { role: 'manager', apps: [elsewhere._id] })
    for (const query of [`type=${gold._id}`, `reseller=${await resellerId()}`]) {
      expect(refusal(await member.call('GET', `/licenses?${query}`))).toBe('not_found')
    }
    expect((await member.call('GET', '/licenses/ids')).json.data).toEqual({ ids: [], capped: false })
  })
})
