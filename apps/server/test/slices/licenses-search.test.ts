import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeApp, makeLicenses, refusal, registerUser, signUp, startProgram } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
beforeAll(() => owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } }))

interface Hit {
  _id: string
  key: string
  note: string | null
}

const search = async (text: string, query = '') => {
  const answer = await owner.call('GET', `/licenses?search=${encodeURIComponent(text)}${query}`)
  expect(answer.status).toBe(200)
  return answer.json.data as { licenses: Hit[]; pagination: { total: number }; stats: { total: number } }
}
const found = async (text: string, query = '') => (await search(text, query)).licenses.map((one) => one._id)

async function make(body: object): Promise<Hit> {
  const { status, json } = await owner.call('POST', '/licenses', {
    app: app._id,
    expiresAt: on.clock.inDays(30),
    ...body,
  })
  expect(status).toBe(201)
  return json.data.license
}

describe('a search', () => {
  test('finds any part of a key, with and without hyphens, in any case', async () => {
    const { _id, key } = await make({})
    await make({})
    const bare = key.replaceAll('-', '')
    for (const text of [
      key,
      bare,
      key.toLowerCase(),
      key.slice(3, 15),
      bare.slice(4, 11),
      key.slice(-7),
      ` ${key} `,
    ]) {
      expect(await found(text)).toEqual([_id])
    }
  })

  test('finds a license by its id', async () => {
    const { _id } = await make({})
    expect(await found(_id)).toEqual([_id])
  })

  test.each([
    ['100% off', '100% o'],
    ['snake_case_note', 'e_case'],
    ['say "hello" twice', '"hello"'],
    ["O'Brien & Sons", "o'brien"],
    ['back\\slash', 'ck\\sl'],
    ['Größe ÄÖÜ', 'größe äöü'],
    ['ΑΘΗΝΑ', 'αθηνα'],
    ['Москва офис', 'МОСКВА'],
    ['東京オフィス', '京オフ'],
    ['Satış İZMİR', 'İZMİR'],
    ['star* (a OR b) NOT c', '* (a or'],
    ['emoji 🔑🗝️ here', '🔑🗝️'],
    ['tab;drop table licenses', ';drop ta'],
    // No generated key contains a U.
    ['Big Quiz q under', 'Z Q U'],
  ])('finds the note %j by %j, with no wildcards', async (note, text) => {
    const { _id } = await make({ note })
    expect(await found(text)).toEqual([_id])
  })

  test.each(['%', '_', '%%%', '___', '***', '"""', "'''", '\\\\\\', '- -', 'a%z', 'zzz_zzz'])(
    'returns nothing for %j if no text contains it',
    async (text) => {
      const empty = await signUp(on)
      const other = await makeApp(empty)
      await empty.call('POST', '/licenses', {
        app: other._id,
        expiresAt: on.clock.inDays(1),
        note: 'plain words',
      })
      const answer = await empty.call('GET', `/licenses?search=${encodeURIComponent(text)}`)
      expect(answer.json.data.licenses).toEqual([])
      expect(answer.json.data.pagination.total).toBe(0)
    },
  )

  test('does not find a note by its words in another order, or by a letter in place of a space', async () => {
    const { _id } = await make({ note: 'Winter deal 2031' })
    for (const text of ['2031 winter', 'deal winter', 'winterqdeal', 'winterdeal']) {
      expect(await found(text)).toEqual([])
    }
    expect(await found('winter deal')).toEqual([_id])
  })

  test('finds licenses, including added keys, by part of the user name', async () => {
    const { license } = await registerUser(on, owner, app, 'Ångström42')
    const added = await make({})
    const program = await startProgram(on, app)
    await program.call('POST', '/upgrade', { username: 'ångström42', licenseKey: added.key })
    expect((await found('STRÖM4')).sort()).toEqual([license._id, added._id].sort())
  })

  test('with one or two letters matches the start of keys and names', async () => {
    await make({ key: 'QQ-12345' })
    const { license } = await registerUser(on, owner, app, 'zyx')
    const { licenses } = await search('qq')
    expect(licenses.map((one) => one.key)).toContain('QQ-12345')
    expect(licenses.every((one) => one.key.startsWith('QQ'))).toBe(true)
    expect(await found('zy')).toContain(license._id)
  })

  test('respects the status, the app and the owner', async () => {
    const note = 'scoped needle'
    const { _id } = await make({ note })
    expect(await found('scoped needle', '&status=unused')).toEqual([_id])
    expect(await found('scoped needle', '&status=expired')).toEqual([])
    expect(await found('scoped needle', `&app=${app.appId}`)).toEqual([_id])
    const other = await makeApp(owner, 'Other')
    expect(await found('scoped needle', `&app=${other._id}`)).toEqual([])
    const stranger = await signUp(on)
    await makeLicenses(on, stranger, await makeApp(stranger))
    for (const text of ['scoped needle', _id]) {
      const { json } = await stranger.call('GET', `/licenses?search=${encodeURIComponent(text)}`)
      expect(json.data).toMatchObject({ licenses: [], pagination: { total: 0 } })
    }
  })

  test('returns pages, newest first', async () => {
    const made: string[] = []
    for (let at = 0; at < 5; at += 1) made.unshift((await make({ note: `paged hit ${at}` }))._id)
    const pages = await Promise.all([1, 2, 3, 4].map((page) => search('paged hit', `&limit=2&page=${page}`)))
    expect(pages.flatMap((page) => page.licenses.map((one) => one._id))).toEqual(made)
    expect(pages.map((page) => page.pagination.total)).toEqual([5, 5, 5, 5])
  })

  test('does not find deleted licenses', async () => {
    const { _id, key } = await make({ note: 'short lived' })
    await owner.call('DELETE', `/licenses/${_id}`)
    expect(await found('short lived')).toEqual([])
    expect(await found(key)).toEqual([])
  })

  test('does not change the counts', async () => {
    const all = await search('')
    expect((await search('no such thing')).stats).toEqual(all.stats)
  })

  test('reports a search text that is too long on every list', async () => {
    for (const list of ['licenses', 'clients', 'resellers', 'apps']) {
      const answer = await owner.call('GET', `/${list}?search=${'x'.repeat(101)}`)
      expect(answer.status).toBe(400)
      expect(answer.json.message).toBe('A search can have at most 100 characters')
    }
  })

  test('rejects a NUL character', async () => {
    expect(refusal(await owner.call('GET', '/licenses?search=ab%00cd'))).toBe('invalid_input')
  })
})

test('a text that very many notes and names hold is found within a filter that lets few through', async () => {
  const small = await makeApp(owner, 'Small')
  const { db } = on.database
  const far = on.clock.now() + 86_400_000
  await sql`insert into clients (id, owner_id, app_id, username, username_normalized, expires_at, created_at)
    with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 20100)
    select 'usr_' || i, ${owner.id}, ${app._id}, 'crowd' || i, 'crowd' || i, cast(${far} as bigint), 1 from numbers`.execute(
    db,
  )
  await sql`insert into licenses (id, owner_id, app_id, key, key_normalized, note, banned, client_id, expires_at, created_at)
    with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 20100)
    select 'many_' || i, ${owner.id}, case when i <= 20000 then ${app._id} else ${small._id} end, 'MANY' || i, 'MANY' || i,
      'a crowded note', case when i % 2000 = 0 then 1 else 0 end, 'usr_' || i, cast(${far} as bigint), 1
    from numbers`.execute(db)
  const own = await make({ app: small._id, note: 'another' })
  for (const text of ['crowded note', 'crowd']) {
    expect((await search(text, `&app=${small.appId}`)).pagination.total).toBe(100)
    expect((await search(text, `&app=${small.appId}&sort=oldest&limit=1`)).licenses[0]?.key).toBe('MANY20001')
    expect((await search(text, '&status=banned')).licenses.map(({ key }) => key)).toEqual(
      Array.from({ length: 10 }, (_, at) => `MANY${20_000 - at * 2000}`),
    )
  }
  expect(await found('another', `&app=${small.appId}`)).toEqual([own._id])
})
