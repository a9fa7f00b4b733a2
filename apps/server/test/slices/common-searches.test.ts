import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const rows = 34_000
const numbers = Array.from({ length: rows }, (_, at) => at + 1)
// Every rule is written once more below, in SQL.
const isHit = (i: number) => i % 13 !== 0
const isExpired = (i: number) => i <= 21_000 || i % 100 === 0
const isBanned = (i: number) => i % 50 === 1

beforeAll(async () => {
  const now = on.clock.now()
  const [past, far] = [now - 86_400_000, now + 86_400_000]
  const { db } = on.database
  const end = sql`case when i <= 21000 or i % 100 = 0 then cast(${past} as bigint) else cast(${far} as bigint) end`
  const of = sql`with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${sql.lit(rows)})`
  // The notes of every thirteenth license contain the same groups of three letters, but not the text.
  await sql`insert into licenses (id, owner_id, app_id, key, key_normalized, note, banned, expires_at, created_at)
    ${of} select 'fair_' || i, ${owner.id}, ${app._id}, 'F' || i, 'F' || i,
      case i % 13 when 0 then 'spr fai 027' when 1 then 'Été, SPRING FAIR 2027' else 'Spring Fair 2027!' end,
      case when i % 50 = 1 then 1 else 0 end, ${end}, 1 from numbers`.execute(db)
  await sql`insert into clients (id, owner_id, app_id, username, username_normalized, banned, expires_at, created_at)
    ${of} select 'guest_' || i, ${owner.id}, ${app._id}, 'v' || i, case when i % 13 = 0 then 'spr fai 027' || i else 'spring fair 2027' || i end,
      case when i % 50 = 1 then 1 else 0 end, ${end}, 1 from numbers`.execute(db)
  if (on.database.dialect === 'postgres') await sql`analyze`.execute(db)
})

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'scans the few rows of a filter for a common text, and reads the hits of a rare one',
  async () => {
    const scans = async (text: string, list: string) => {
      const search = `/${list}?status=banned&search=${encodeURIComponent(text)}`
      const sent = await statementsOf(on.database, () => owner.call('GET', search))
      return sent.some((one) => one.text.includes('then 1 else 0 end = 1'))
    }
    expect(await scans('spring fair 2027', 'licenses')).toBe(true)
    expect(await scans('spring fair 2027', 'clients')).toBe(true)
    expect(await scans('a rare text', 'licenses')).toBe(false)
    expect(await scans('a rare text', 'clients')).toBe(false)
  },
)

interface Answer {
  licenses?: { key: string }[]
  clients?: { username: string }[]
  pagination: { total: number; capped?: boolean }
}

async function page(
  list: 'licenses' | 'clients',
  query: string,
  text = 'spring fair 2027',
): Promise<[string[], Answer['pagination']]> {
  const answer = await owner.call('GET', `/${list}?search=${encodeURIComponent(text)}${query}`)
  expect(answer.status).toBe(200)
  const { licenses, clients, pagination } = answer.json.data as Answer
  const names = licenses?.map(({ key }) => key) ?? clients?.map(({ username }) => username)
  return [names ?? [], pagination]
}

type Filter = [string, (i: number) => boolean]

const ofLicenses: Filter[] = [
  ['', () => true],
  ['&status=expired', isExpired],
  ['&status=unused', (i) => !isExpired(i)],
  ['&status=banned', isBanned],
]
const ofClients: Filter[] = [
  ['', () => true],
  ['&status=expired', (i) => isExpired(i) && !isBanned(i)],
  ['&status=active', (i) => !isExpired(i) && !isBanned(i)],
  ['&status=banned', isBanned],
]

test.each([
  { list: 'licenses', letter: 'F', filters: ofLicenses },
  { list: 'clients', letter: 'v', filters: ofClients },
] as const)('a common text shows the right pages and counts of $list in every order', async (search) => {
  const { list, letter, filters } = search
  for (const [query, isIn] of filters) {
    for (const sort of ['newest', 'oldest']) {
      const hits = numbers.filter((i) => isHit(i) && isIn(i))
      if (sort === 'newest') hits.reverse()
      const counted = Math.min(hits.length, 10_000)
      const last = Math.ceil(counted / 100)
      for (const number of [1, 2, Math.ceil(last / 2), last]) {
        const [names, pagination] = await page(list, `${query}&sort=${sort}&limit=100&page=${number}`)
        const shown = hits.slice((number - 1) * 100, Math.min(number * 100, counted))
        expect(names, `${query} ${sort} ${number}`).toEqual(shown.map((i) => `${letter}${i}`))
        expect(pagination.total).toBe(counted)
        expect(pagination.capped ?? false).toBe(hits.length > 10_000)
      }
    }
  }
})

test.each([
  { list: 'licenses', letter: 'F', filters: ofLicenses },
  { list: 'clients', letter: 'v', filters: ofClients },
] as const)('a less common text finds the same $list in every filter', async ({ list, letter, filters }) => {
  for (const [query, isIn] of filters) {
    for (const sort of ['newest', 'oldest']) {
      const hits = numbers.filter((i) => !isHit(i) && isIn(i))
      if (sort === 'newest') hits.reverse()
      const last = Math.ceil(hits.length / 100)
      for (const number of [1, last]) {
        const [names, pagination] = await page(
          list,
          `${query}&sort=${sort}&limit=100&page=${number}`,
          'spr fai 027',
        )
        const shown = hits.slice((number - 1) * 100, number * 100)
        expect(names, `${query} ${sort} ${number}`).toEqual(shown.map((i) => `${letter}${i}`))
        expect(pagination.total).toBe(hits.length)
      }
    }
  }
})

test('finds a key that contains a common text, too', async () => {
  const { db } = on.database
  const row = { id: 'keyed', owner_id: owner.id, app_id: app._id, key: 'K', created_at: 1 }
  const expires_at = on.clock.now() + 86_400_000
  await db
    .insertInto('licenses')
    .values({ ...row, key_normalized: 'XSPRINGFAIR2027', expires_at })
    .execute()
  expect((await page('licenses', '&limit=2'))[0]).toEqual(['K', `F${rows}`])
  const [found] = await page('licenses', '&limit=1&status=unused')
  expect(found).toEqual(['K'])
  await db.deleteFrom('licenses').where('id', '=', 'keyed').execute()
})
