import { limits } from '@keyward/contract'
import { beforeAll, expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { findPage } from '../../src/db/lists/lists.ts'
import { endUserList } from '../../src/modules/end-users/end-users.list.ts'
import { licenseList } from '../../src/modules/licenses/licenses.list.ts'
import {
  activateKey,
  makeLicenses,
  type Owner,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const other = appForAll(owner)

type Caller = Pick<Owner, 'call'>
interface ListedLicense {
  key: string
  usedBy: { name: string | null } | null
}
interface ListedUser {
  _id: string
  username: string
  licenseKey: string | null
  knownAs: string | null
}

/** All rows, read in pages of three, each once. */
async function readAll<Row>(caller: Caller, noun: 'licenses' | 'clients', query: string): Promise<Row[]> {
  const found: Row[] = []
  for (let page = 1; ; page += 1) {
    const { json } = await caller.call('GET', `/${noun}?${query}&limit=3&page=${page}`)
    found.push(...json.data[noun])
    if (json.data[noun].length < 3) return found
  }
}

/** What the list of licenses shows: the name of the end user, that it has none, or that there is no end user. */
const shownUser = ({ usedBy }: ListedLicense) => (usedBy === null ? '-' : (usedBy.name ?? '?'))
const shownName = ({ username, licenseKey, knownAs }: ListedUser) =>
  username === licenseKey ? knownAs : username

/** The newest of each name first, in a list that is the newest first. */
function sorted<Row>(rows: readonly Row[], nameOf: (row: Row) => string, order: 1 | -1): Row[] {
  const rank = (row: Row) => ['?', '-'].indexOf(nameOf(row))
  const compared = (row: Row) => nameOf(row).toLowerCase()
  return rows.toSorted((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) - rank(b)
    return compared(a) < compared(b) ? -order : compared(a) > compared(b) ? order : 0
  })
}

let byKey: Awaited<ReturnType<typeof activateKey>>[]
beforeAll(async () => {
  const { program } = await registerUser(on, owner, app, 'Mara')
  const added = single(await makeLicenses(on, owner, app))
  await program.call('POST', '/upgrade', { username: 'mara', licenseKey: added.key })
  for (const [of, name] of [
    [other, 'mara'],
    [app, 'bob'],
    [other, 'Émile'],
    [app, 'Zoe'],
    [other, 'adam'],
  ] as const) {
    await registerUser(on, owner, of, name)
  }
  byKey = []
  for (const of of [app, app, other, app, other]) byKey.push(await activateKey(on, owner, of))
  const [linked, addressed, device, , foreign] = byKey
  await owner.call('PATCH', `/clients/${linked?.user._id}`, {
    email: 'later@buyers.example',
    customer: 'Carla@Buyers.example',
  })
  await owner.call('PATCH', `/clients/${foreign?.user._id}`, { customer: 'Carla@Buyers.example' })
  await owner.call('PATCH', `/clients/${addressed?.user._id}`, { email: 'Nina@buyers.example' })
  for (const [hwid, name] of [
    ['pc-1', 'Zeta PC'],
    ['pc-2', 'Alpha PC'],
  ]) {
    await owner.call('PATCH', `/clients/${device?.user._id}/reset-hwid`)
    const sent = { licenseKey: device?.license.key, hwid, device: { name } }
    expect((await (await startProgram(on, other)).call('POST', '/license', sent)).status).toBe(200)
  }
  const [second] = await makeLicenses(on, owner, app)
  await owner.call('POST', `/clients/${linked?.user._id}/licenses`, { license: second?._id })
  await makeLicenses(on, owner, app, 2)
  await owner.call('PATCH', `/licenses/${byKey[3]?.license._id}/toggle-ban`)
})

test.each(['', '&status=active', '&status=unused', '&status=banned&banned=apart', '&banned=apart'])(
  'licenses are sorted by the name that the list shows, those without one and unused ones last (%s)',
  async (filter) => {
    for (const query of [filter, `${filter}&app=${app._id}`]) {
      const newest = await readAll<ListedLicense>(owner, 'licenses', `sort=newest${query}`)
      for (const [sort, order] of [
        ['user_a_to_z', 1],
        ['user_z_to_a', -1],
      ] as const) {
        const listed = await readAll<ListedLicense>(owner, 'licenses', `sort=${sort}${query}`)
        expect(listed).toEqual(sorted(newest, shownUser, order))
      }
    }
  },
)

test('the names of a list of licenses are compared without regard to case, an added key beside the first one', async () => {
  const listed = await readAll<ListedLicense>(owner, 'licenses', 'sort=user_a_to_z')
  expect(listed.map(shownUser).filter((name) => name !== '?' && name !== '-')).toEqual([
    ...['adam', 'Alpha PC', 'bob', 'Carla@Buyers.example', 'Carla@Buyers.example', 'Carla@Buyers.example'],
    ...['mara', 'Mara', 'Mara', 'Nina@buyers.example', 'Zoe', 'Émile'],
  ])
})

test('end users are sorted by the name that the list shows, also to a member who sees some apps', async () => {
  const member = await addMember(on, owner, { role: 'manager', apps: [other._id] })
  for (const caller of [owner, member]) {
    const newest = await readAll<ListedUser>(caller, 'clients', 'sort=newest')
    const nameOf = (user: ListedUser) => shownName(user) ?? '?'
    for (const [sort, order] of [
      ['user_a_to_z', 1],
      ['user_z_to_a', -1],
    ] as const) {
      const listed = await readAll<ListedUser>(caller, 'clients', `sort=${sort}`)
      expect(listed).toEqual(sorted(newest, nameOf, order))
    }
  }
  const names = (await readAll<ListedUser>(owner, 'clients', 'sort=user_a_to_z')).map(shownName)
  expect(names).toEqual([
    ...['adam', 'Alpha PC', 'bob', 'Carla@Buyers.example', 'Carla@Buyers.example', 'mara', 'Mara'],
    ...['Nina@buyers.example', 'Zoe', 'Émile', null],
  ])
})

test('the activity names end users as their list does', async () => {
  const [linked, , device] = byKey
  const namesOf = async (user: string | undefined) => {
    const { events } = (await owner.call('GET', `/activity?client=${user}`)).json.data
    return new Set(events.map(({ client }: { client: { name: string } }) => client.name))
  }
  await expect.poll(() => namesOf(linked?.user._id)).toEqual(new Set(['Carla@Buyers.example']))
  await expect.poll(() => namesOf(device?.user._id)).toEqual(new Set(['Alpha PC']))
})

test('the audit log names end users as their list does, those of whom nothing is known by their key', async () => {
  const nameOf = async (user: { _id: string } | undefined) =>
    (await owner.call('GET', `/audit?subject=${user?._id}`)).json.data.records[0].subject.name
  const [linked, , device, unknown] = byKey
  expect(await nameOf(linked?.user)).toBe('Carla@Buyers.example')
  expect(await nameOf(device?.user)).toBe('Alpha PC')
  expect(await nameOf(unknown?.user)).toBe(unknown?.license.key)
})

test('who may not read end users learns no address and no device from the licenses', async () => {
  const key = await makeApiKey(on, owner, { permissions: ['licenses:read'] })
  for (const sort of ['user_a_to_z', 'newest']) {
    const listed = await readAll<ListedLicense>(key, 'licenses', `sort=${sort}`)
    const names = listed.flatMap(({ usedBy }) => usedBy?.name ?? [])
    expect(names.toSorted()).toEqual(['Mara', 'Mara', 'Zoe', 'adam', 'bob', 'mara', 'Émile'])
  }
})

test('a new name moves an end user and its licenses', async () => {
  const [first] = byKey
  const rename = (username: string) => owner.call('PATCH', `/clients/${first?.user._id}`, { username })
  expect((await rename('Aaron')).status).toBe(200)
  const top = async () => {
    const [license] = (await owner.call('GET', '/licenses?sort=user_a_to_z&limit=1')).json.data.licenses
    const [user] = (await owner.call('GET', '/clients?sort=user_a_to_z&limit=1')).json.data.clients
    return [license.usedBy.username, user.username]
  }
  expect(await top()).toEqual(['Aaron', 'Aaron'])
  await rename('aardvark')
  expect(await top()).toEqual(['aardvark', 'aardvark'])
})

test('an end user whose license was deleted is called as before, or by nothing, but keeps a name of its own', async () => {
  const [renamed, addressed, device, unknown] = byKey
  for (const one of byKey) await owner.call('DELETE', `/licenses/${one.license._id}`)
  const listed = await readAll<ListedUser>(owner, 'clients', 'sort=user_a_to_z')
  const known = (one: (typeof byKey)[number] | undefined) =>
    listed.find(({ _id }) => _id === one?.user._id)?.knownAs
  expect([renamed, addressed, device, unknown].map(known)).toEqual([
    null,
    'Nina@buyers.example',
    'Alpha PC',
    null,
  ])
  expect(listed[0]?.username).toBe('aardvark')
  expect(listed.at(-1)?._id).toBe(unknown?.user._id)
})

test('more rows than a search counts are not sorted by user, nor are searches', async () => {
  const filter = { scope: allApps(owner.id), now: on.clock.now() }
  const page = { page: 1, limit: 5, sort: 'user_a_to_z' } as const
  const many = { total: limits.searchCountMax + 1, active: 0, unused: 0, expired: 0, banned: 0 }
  for (const list of [licenseList, endUserList]) {
    const found = findPage(
      on.database,
      { ...list, count: async () => many } as typeof licenseList,
      filter,
      page,
    )
    await expect(found).rejects.toMatchObject({ code: 'invalid_input', message: /cannot be sorted by user/ })
  }
  for (const noun of ['licenses', 'clients']) {
    const answer = await owner.call('GET', `/${noun}?sort=user_a_to_z&search=mara`)
    expect(wrongFields(answer)).toEqual(['sort'])
  }
})
