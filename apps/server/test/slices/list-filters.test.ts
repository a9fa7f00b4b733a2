import '../property-seed.ts'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { never } from '../../src/db/stored-end.ts'
import { makeType } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const [atlas, orion] = [appForAll(owner), appForAll(owner)]

interface License {
  id: string
  seq: number
  app: string
  type: string | null
  reseller: string | null
  used: number
  banned: number
  ends: number
  texts: string[]
  client: string | null
}
interface Client {
  id: string
  seq: number
  app: string
  banned: number
  ends: number
  texts: string[]
}
const licenses: License[] = []
const clients: Client[] = []
let types: { _id: string }[] = []
let resellers: { _id: string; email: string }[] = []
let member: { call: typeof owner.call }
const typeNames = ['Gold Edition', 'Silver Edition']
const words = ['winter', 'desk', 'edition', 'reseller', 'mail.example', 'nothing here', 'user 1']

/** Ends before, around and after now, equal ones, and some that never come. */
beforeAll(async () => {
  const now = on.clock.now()
  types = [
    await makeType(owner, atlas, { name: typeNames[0] }),
    await makeType(owner, orion, { name: typeNames[1] }),
  ]
  resellers = [await makeReseller(on, owner, atlas), await makeReseller(on, owner, orion)]
  member = await addMember(on, owner, { role: 'manager', apps: [orion._id] })
  const overriding = on.database.dialect === 'postgres' ? sql`overriding system value` : sql``
  for (let at = 0; at < 90; at += 1) {
    const app = at % 3 === 0 ? orion : atlas
    const [type, reseller] = app === atlas ? [types[0], resellers[0]] : [types[1], resellers[1]]
    const seq = 9000 + at * 5300
    const ends = at % 6 === 5 ? never : now + (((at * 31) % 41) - 15) * 12 * hour
    const used = at % 4 < 2 ? 1 : 0
    const note = at % 7 === 0 ? `Winter sale ${at}` : null
    const key = `KEY${seq}`
    const ofType = at % 5 < 2 ? type : undefined
    const ofReseller = at % 8 < 3 ? reseller : undefined
    const license: License = {
      id: newId('lic'),
      seq,
      app: app._id,
      type: ofType?._id ?? null,
      reseller: ofReseller?._id ?? null,
      used,
      banned: at % 9 === 0 ? 1 : 0,
      ends,
      texts: [
        key,
        note ?? '',
        ofReseller?.email ?? '',
        ofType ? (typeNames[app === atlas ? 0 : 1] as string) : '',
      ],
      client: used ? newId('usr') : null,
    }
    if (license.client) {
      const name = `user ${at}`
      const email = at % 2 ? `u${at}@Mail.example` : null
      const device = at % 3 === 1 ? `Desk of ${at}` : null
      const banned = at % 10 === 4 ? 1 : 0
      const known = [name, email ?? '', device ?? '']
      await sql`insert into clients (seq, id, owner_id, app_id, username, username_normalized, email, banned, expires_at, created_at)
        ${overriding} values (${seq + 1}, ${license.client}, ${owner.id}, ${app._id}, ${name}, ${name}, ${email}, ${banned}, ${ends}, ${now})`.execute(
        on.database.db,
      )
      if (device)
        await sql`insert into devices (id, owner_id, app_id, client_id, hwid, hwid_hash, name, first_seen_at, last_seen_at)
          values (${newId('dev')}, ${owner.id}, ${app._id}, ${license.client}, 'x', 'x', ${device}, ${now}, ${now})`.execute(
          on.database.db,
        )
      license.texts.push(...known)
      const inClient = [...known, key, license.texts[2] as string, license.texts[3] as string]
      clients.push({ id: license.client, seq: seq + 1, app: app._id, banned, ends, texts: inClient })
    }
    await sql`insert into licenses (seq, id, owner_id, app_id, key, key_normalized, used, banned, expires_at, created_at, type_id, reseller_id, note, client_id)
      ${overriding} values (${seq}, ${license.id}, ${owner.id}, ${app._id}, ${key}, ${key}, ${used}, ${license.banned}, ${ends}, ${now},
        ${license.type}, ${license.reseller}, ${note}, ${license.client})`.execute(on.database.db)
    licenses.push(license)
  }
})

const soon = 7 * day
const licenseIs: Record<string, (row: License, now: number) => boolean> = {
  unused: (row, now) => row.used === 0 && row.ends > now,
  active: (row, now) => row.used === 1 && row.ends > now,
  expired: (row, now) => row.ends <= now,
  banned: (row) => row.banned === 1,
  expiring: (row, now) => row.used === 1 && row.ends > now && row.ends <= now + soon,
}
const clientIs: Record<string, (row: Client, now: number) => boolean> = {
  active: (row, now) => row.banned === 0 && row.ends > now,
  expired: (row, now) => row.banned === 0 && row.ends <= now,
  banned: (row) => row.banned === 1,
  expiring: (row, now) => row.banned === 0 && row.ends > now && row.ends <= now + soon,
}

const maybe = <T>(...values: T[]) => fc.constantFrom(undefined, ...values)
const filters = (statuses: string[]) =>
  fc.record({
    app: maybe(0, 1),
    type: maybe(0, 1),
    reseller: maybe(0, 1),
    status: maybe(...statuses),
    search: maybe(...words),
    sort: fc.constantFrom('newest', 'oldest', 'expires_first', 'expires_last'),
    limit: fc.constantFrom(1, 7, 50),
    page: fc.constantFrom(1, 2, 5),
    asMember: fc.boolean(),
  })

const orders: Record<string, (a: { seq: number; ends: number }, b: { seq: number; ends: number }) => number> =
  {
    newest: (a, b) => b.seq - a.seq,
    oldest: (a, b) => a.seq - b.seq,
    expires_first: (a, b) => a.ends - b.ends || a.seq - b.seq,
    expires_last: (a, b) => b.ends - a.ends || b.seq - a.seq,
  }

test.each(['licenses', 'clients'] as const)(
  'every combination of filters, order and page lists the %s that a comparison of all rows finds',
  async (list) => {
    const statuses = list === 'licenses' ? licenseIs : clientIs
    await fc.assert(
      fc.asyncProperty(filters(Object.keys(statuses)), async (wanted) => {
        const { app, type, reseller, status, search, sort, limit, page, asMember } = wanted
        const caller = asMember ? member : owner
        const now = on.clock.now()
        const query = new URLSearchParams()
        const appId = app === undefined ? undefined : [atlas, orion][app]?._id
        if (appId) query.set('app', appId)
        if (type !== undefined) query.set('type', types[type]?._id ?? '')
        if (reseller !== undefined) query.set('reseller', resellers[reseller]?._id ?? '')
        if (status) query.set('status', status)
        if (search) query.set('search', search)
        const answer = await caller.call('GET', `/${list}?${query}&sort=${sort}&limit=${limit}&page=${page}`)
        const isForeign = asMember && (app === 0 || type === 0 || reseller === 0)
        expect(answer.status).toBe(isForeign ? 404 : 200)
        if (isForeign) return
        const isOf = (row: License) =>
          (type === undefined || row.type === types[type]?._id) &&
          (reseller === undefined || row.reseller === resellers[reseller]?._id)
        const rows = list === 'licenses' ? licenses : clients
        const hits = (rows as (License | Client)[])
          .filter((row) => (asMember ? row.app === orion._id : true) && (!appId || row.app === appId))
          .filter((row) =>
            list === 'licenses'
              ? isOf(row as License)
              : licenses.some((one) => one.client === row.id && isOf(one)),
          )
          .filter((row) => !status || statuses[status]?.(row as License & Client, now))
          .filter((row) => !search || row.texts.some((text) => text.toLowerCase().includes(search)))
          .toSorted(orders[sort])
        const ids = hits.map(({ id }) => id)
        const { data } = answer.json
        expect(data[list].map(({ _id }: { _id: string }) => _id)).toEqual(
          ids.slice((page - 1) * limit, page * limit),
        )
        expect(data.pagination.total).toBe(ids.length)
        const all = await caller.call('GET', `/${list}/ids?${query}`)
        const newest = hits.toSorted(orders.newest).map(({ id }) => id)
        expect(all.json.data).toEqual({ ids: newest, capped: false })
        const file = await caller.call('GET', `/${list}/export?format=json&${query}`)
        expect(file.json.map(({ _id }: { _id: string }) => _id)).toEqual(newest)
      }),
      { numRuns: 60 },
    )
  },
)
