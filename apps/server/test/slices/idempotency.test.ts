import { acceptsIdempotencyKey, type License, limits } from '@keyward/contract'
import type { Insertable } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import type { Tables } from '../../src/db/tables.ts'
import { allEndpoints, buildOpenApi } from '../../src/http/openapi.ts'
import { activateKey, makeApp, makeLicenses, refusal, signUp, single } from '../actors.ts'
import { appForAll, ownerForAll, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { type Answer, startServer, type TestServer } from '../harness.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const other = ownerForAll(on)
const app = appForAll(owner)

let keys = 0
const newKey = () => `test-${++keys}`

interface Request {
  method: string
  path: string
  body: Record<string, unknown>
  /** Whose session sends the request; by default the owner's. */
  token?: string
}

const send = (
  { method, path, body, token = owner.token }: Request,
  key: string,
  { at = on }: { at?: TestServer } = {},
): Promise<Answer> => at.call(method, path, { token, body, headers: { 'idempotency-key': key } })

const countLicenses = async (): Promise<number> =>
  (await owner.call('GET', `/licenses?app=${app._id}&limit=1`)).json.data.stats.total
const oneLicense = async () => single(await makeLicenses(on, owner, app))
const endOf = async ({ _id }: Pick<License, '_id'>): Promise<string> =>
  (await owner.call('GET', `/licenses/${_id}`)).json.data.license.expiresAt
const creation = (count = 1): Request => ({
  method: 'POST',
  path: '/licenses',
  body: { app: app._id, duration: { value: 30, unit: 'days' }, count },
})
const extension = ({ _id }: Pick<License, '_id'>, days = 10): Request => ({
  method: 'POST',
  path: '/licenses/bulk',
  body: { action: 'extend', ids: [_id], days },
})

/** On the embedded database, more than 50 rows are stored first and added in slices. */
const importing = (rows: number, dryRun = false): Request => ({
  method: 'POST',
  path: '/licenses/import',
  body: { app: app._id, csv: `duration\n${'30 days\n'.repeat(rows)}`, dryRun },
})

interface Case {
  request: Request
  /** Differs from `request`, with another outcome. */
  different: Record<string, unknown>
  /** What a repeat would change. */
  read: () => Promise<unknown>
}

const ofEndUser = async (request: (user: { _id: string }) => Request, different: object) => {
  const { user } = await activateKey(on, owner, app)
  return {
    request: request(user),
    different: { ...request(user).body, ...different },
    read: async () => (await owner.call('GET', `/clients/${user._id}`)).json.data.client.expiresAt,
  }
}

const cases: Record<string, () => Promise<Case>> = {
  'licenses.create': async () => ({
    request: creation(3),
    different: creation(4).body,
    read: countLicenses,
  }),
  'apps.create': async () => ({
    request: { method: 'POST', path: '/apps', body: { name: 'Borealis' } },
    different: { name: 'Cirrus' },
    read: async () => (await owner.call('GET', '/apps?limit=1')).json.data.count,
  }),
  'bulk.importLicenses': async () => ({
    request: importing(80),
    different: importing(81).body,
    read: countLicenses,
  }),
  'bulk.licenses': async () => {
    const license = await oneLicense()
    return {
      request: extension(license),
      different: extension(license, 11).body,
      read: () => endOf(license),
    }
  },
  'bulk.clients': () =>
    ofEndUser(
      ({ _id }) => ({
        method: 'POST',
        path: '/clients/bulk',
        body: { action: 'extend', ids: [_id], days: 7 },
      }),
      { days: 8 },
    ),
  'portal.createLicenses': async () => {
    const { token, call } = await makeReseller(on, owner, app)
    const body = { count: 3, expiresAt: on.clock.inDays(30) }
    return {
      request: { method: 'POST', path: '/resellers/auth/licenses', body, token },
      different: { ...body, count: 4 },
      read: async () => (await call('GET', '/licenses')).json.data.stats,
    }
  },
  'clients.extend': () =>
    ofEndUser(({ _id }) => ({ method: 'PATCH', path: `/clients/${_id}/extend`, body: { days: 7 } }), {
      days: 8,
    }),
}

const keyed = allEndpoints.filter(({ name }) => name in cases)
const accepting = allEndpoints.filter(({ endpoint }) => acceptsIdempotencyKey(endpoint))

test.each(keyed.map(({ name, endpoint }) => [name, endpoint] as const))(
  '%s repeats its answer for the same Idempotency-Key and changes nothing again',
  async (name, endpoint) => {
    const make = cases[name]
    if (!make) throw new Error(`add ${name} to \`cases\``)
    const { request, different, read } = await make()
    const key = newKey()
    const before = await read()
    const first = await send(request, key)
    expect(first.status).toBe(endpoint.status ?? 200)
    const after = await read()
    expect(after).not.toEqual(before)

    on.clock.advance(hour)
    const repeated = await send(request, key)
    expect([repeated.status, repeated.json]).toEqual([first.status, first.json])
    expect(await read()).toEqual(after)

    expect(refusal(await send({ ...request, body: different }, key))).toBe('idempotency_key_used')
    expect(await read()).toEqual(after)

    expect((await send(request, newKey())).status).toBe(first.status)
    expect(await read()).not.toEqual(after)
  },
)

test('the description of every call that accepts a key names both headers, and of no other call', () => {
  type Operation = { parameters: { name: string }[]; responses: Record<string, { headers?: object }> }
  const paths = buildOpenApi().paths as Record<string, Record<string, Operation>>
  const described = allEndpoints.filter(({ endpoint: { path, method, status = 200 } }) => {
    const operation = paths[`/api${path.replace(/:(\w+)/g, '{$1}')}`]?.[method.toLowerCase()]
    const takes = operation?.parameters.some(({ name }) => name === 'Idempotency-Key')
    expect('Idempotent-Replay' in (operation?.responses[status]?.headers ?? {})).toBe(takes)
    return takes
  })
  expect(described).toEqual(accepting)
})

/** Changes beside those of `cases`, a repeat of which could not be told from its data. */
const more: Record<string, () => Promise<Omit<Case, 'different'>>> = {
  'licenses.update': async () => {
    const { _id } = await oneLicense()
    return {
      request: { method: 'PUT', path: `/licenses/${_id}`, body: { note: 'Sold twice' } },
      read: () => recorded('license.updated', _id),
    }
  },
  'bulk deletion': async () => {
    const ids = (await makeLicenses(on, owner, app, 20)).map(({ _id }) => _id)
    return {
      request: { method: 'POST', path: '/licenses/bulk', body: { action: 'delete', ids } },
      read: countLicenses,
    }
  },
  'licenses.removeAll': async () => {
    const { _id } = await makeApp(owner)
    const made = await makeLicenses(on, owner, { _id }, 90)
    expect(made).toHaveLength(90)
    return {
      request: { method: 'DELETE', path: `/licenses?app=${_id}`, body: {} },
      read: () => recorded('licenses.deletion_finished', _id),
    }
  },
  'apps.remove': async () => {
    const { _id } = await makeApp(owner)
    await makeLicenses(on, owner, { _id }, 30)
    return {
      request: { method: 'DELETE', path: `/apps/${_id}`, body: {} },
      read: () => recorded('app.deleted', _id),
    }
  },
}

const recorded = async (action: string, target: string): Promise<number> =>
  (
    await on.database.db
      .selectFrom('audit')
      .select('id')
      .where('action', '=', action)
      .where('target_id', '=', target)
      .execute()
  ).length

test.each(Object.entries({ ...cases, ...more }))(
  'exactly one of 32 concurrent requests changes something: %s',
  async (name, make) => {
    const { request, read } = await make()
    const before = await read()
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: 32 }, () => send(request, key)))
    const done = answers.filter(({ json }) => json.success)
    expect(new Set(done.map(({ json }) => JSON.stringify(json))).size).toBe(1)
    const first = done.filter(({ headers }) => headers['idempotent-replay'] === undefined)
    expect(first).toHaveLength(1)
    const waiting = answers.filter(({ json }) => !json.success).map(refusal)
    for (const code of waiting) expect(['request_running', 'job_running']).toContain(code)
    const after = await read()
    expect(after).not.toEqual(before)
    if (name in more && typeof before === 'number')
      expect(after).toBe(name === 'bulk deletion' ? before - 20 : 1)
    const repeated = await send(request, key)
    expect(repeated.json).toEqual(done[0]?.json)
    expect(repeated.headers['idempotent-replay']).toBe('true')
    expect(await read()).toEqual(after)
  },
)

test('a key is valid within its account only, and a token is required for a repeat', async () => {
  const key = newKey()
  const first = await send(creation(), key)
  expect(refusal(await send({ ...creation(), token: 'kwo_00000000000000000000' }, key))).toBe('unauthorized')
  const foreign = await makeApp(other)
  const body = { ...creation().body, app: foreign._id }
  const answer = await send({ ...creation(), body, token: other.token }, key)
  expect(answer.status).toBe(201)
  expect(answer.json.data.license.key).not.toBe(first.json.data.license.key)
})

test('a member who lost an app since repeats a request, and gets neither its key nor another one', async () => {
  const vendor = await signUp(on)
  const apps = [(await makeApp(vendor))._id, (await makeApp(vendor))._id]
  const member = await addMember(on, vendor, { role: 'manager', apps })
  const body = { app: apps[0], duration: { value: 30, unit: 'days' } }
  const request = { method: 'POST', path: '/licenses', body, token: member.token }
  const key = newKey()
  const made = await send(request, key)
  expect(made.status).toBe(201)
  expect((await send(request, key)).json).toEqual(made.json)
  const limit = (to: string[]) => vendor.call('PATCH', `/members/${member._id}`, { apps: to })
  await limit(apps.slice(1))
  const repeated = await send(request, key)
  expect([refusal(repeated), repeated.raw.includes(made.json.data.license.key)]).toEqual(['not_found', false])
  await limit(apps)
  expect((await send(request, key)).json).toEqual(made.json)
  const { stats } = (await vendor.call('GET', '/licenses')).json.data
  expect(stats.total).toBe(1)
})

test('an owner and its resellers have keys of their own', async () => {
  const key = newKey()
  const [one, two] = [await makeReseller(on, owner, app), await makeReseller(on, owner, app)]
  const path = '/resellers/auth/licenses'
  const body = { count: 1, expiresAt: on.clock.inDays(30) }
  const answers = []
  for (const { token } of [one, two]) answers.push(await send({ method: 'POST', path, body, token }, key))
  answers.push(await send(creation(), key))
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(new Set(answers.map(({ json }) => json.data.licenses[0].key)).size).toBe(3)
})

test('repeats the answer of a whole quota', async () => {
  const { token, call } = await makeReseller(on, owner, app, 3000)
  const body = { count: 3000, expiresAt: on.clock.inDays(30) }
  const request = { method: 'POST', path: '/resellers/auth/licenses', body, token }
  const key = newKey()
  const first = await send(request, key)
  expect(first.json.data.licenses).toHaveLength(3000)
  expect((await send(request, key)).json).toEqual(first.json)
  expect((await call('GET', '/licenses?limit=1')).json.data.stats.remaining).toBe(0)
})

test('a repeat has the first answer even after what it created was changed and its expiry has passed', async () => {
  const request = { ...creation(), body: { app: app._id, expiresAt: on.clock.inDays(0.1) } }
  const key = newKey()
  const first = await send(request, key)
  await owner.call('DELETE', `/licenses/${first.json.data.license._id}`)
  on.clock.advance(3 * hour)
  expect((await send(request, key)).json).toEqual(first.json)
})

test('a request that failed is tried again with its key', async () => {
  const license = await oneLicense()
  const request = { ...extension(license), body: { action: 'extend', ids: [license._id, 'lic_0'], days: 10 } }
  const key = newKey()
  expect(refusal(await send(request, key))).toBe('not_found')
  expect(refusal(await send(request, key))).toBe('not_found')
  expect((await send(extension(license), key)).status).toBe(200)
  expect(await endOf(license)).toBe(on.clock.inDays(40))
})

test('quotes around a key and the order of fields make no difference', async () => {
  const { _id } = await oneLicense()
  const key = newKey()
  const first = await send(extension({ _id }), `"${key}"`)
  const body = { days: 10, ids: [_id], action: 'extend' }
  expect((await send({ ...extension({ _id }), body }, key)).json).toEqual(first.json)
  expect(await endOf({ _id })).toBe(on.clock.inDays(40))
})

test.each([
  ['an empty key', ''],
  ['empty quotes', '""'],
  ['a key that is too long', 'x'.repeat(limits.idempotencyKeyMax + 1)],
  ['two keys', 'one, two'],
  ['an unclosed quote', '"one'],
  ['a key with a space', 'one two'],
])('rejects %s', async (_name, key) => {
  const before = await countLicenses()
  const answer = await send(creation(), key)
  expect(refusal(answer)).toBe('invalid_input')
  expect(answer.json.errors[0].path).toBe('Idempotency-Key')
  expect(await countLicenses()).toBe(before)
})

test('forgets a key after 24 hours; housekeeping deletes its answer', async () => {
  const license = await oneLicense()
  const [key, unused] = [newKey(), newKey()]
  await send(extension(license), key)
  await send(creation(), unused)
  on.clock.advance(limits.idempotencyHours * hour - 1)
  await send(extension(license), key)
  expect(await endOf(license)).toBe(new Date(Date.parse(license.expiresAt) + 10 * 24 * hour).toISOString())
  on.clock.advance(1)
  expect((await send(extension(license), key)).status).toBe(200)
  expect(await endOf(license)).toBe(new Date(Date.parse(license.expiresAt) + 20 * 24 * hour).toISOString())
  await tidyUp(on)
  const { db } = on.database
  const left = await db.selectFrom('idempotency_keys').select('expires_at').execute()
  expect(left).toHaveLength(1)
})

test('stores neither license keys nor names in plain text', async () => {
  const { json } = await send(creation(), newKey())
  const rows = await on.database.db.selectFrom('idempotency_keys').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(json.data.license.key)
  expect(rows.at(-1)?.answer).toMatch(/^v1\./)
})

test('the oldest answers of an account make room for new ones', async () => {
  const { db } = on.database
  const toRow = (at: number) => ({
    id: `full-${at}`,
    owner_id: owner.id,
    request_hash: '',
    answer: '',
    expires_at: on.clock.now() + hour + at,
  })
  const theirs = { ...toRow(0), id: 'theirs', owner_id: other.id }
  const rows = Array.from({ length: limits.idempotencyKeysMax }, (_, at) => toRow(at))
  for (let at = 0; at < rows.length; at += 1000) await insertRows(db, rows.slice(at, at + 1000))
  await insertRows(db, [theirs])
  const key = newKey()
  const first = await send(creation(), key)
  expect(first.status).toBe(201)
  expect((await send(creation(), key)).json).toEqual(first.json)
  const left = await db.selectFrom('idempotency_keys').select(['id', 'owner_id']).execute()
  const ids = left.filter(({ owner_id }) => owner_id === owner.id).map(({ id }) => id)
  expect(ids.length).toBeLessThan(limits.idempotencyKeysMax)
  expect(ids).toContain('full-9999')
  expect(ids).not.toContain('full-0')
  expect(left.map(({ id }) => id)).toContain('theirs')
  await db.deleteFrom('idempotency_keys').execute()
})

test('the oldest answers of an account make room when they take too many bytes', async () => {
  const { db } = on.database
  const rows = Array.from({ length: 32 }, (_, at) => ({
    id: `large-${at}`,
    owner_id: owner.id,
    request_hash: '',
    answer: '',
    bytes: limits.idempotencyBytesMax / 16,
    expires_at: on.clock.now() + hour + at,
  }))
  await insertRows(db, rows)
  const key = newKey()
  const first = await send(creation(), key)
  expect((await send(creation(), key)).json).toEqual(first.json)
  const left = await db.selectFrom('idempotency_keys').select(['id', 'answer', 'bytes']).execute()
  const large = left.filter(({ id }) => id.startsWith('large-'))
  expect(large.map(({ id }) => id).sort()).toEqual(
    rows
      .slice(-15)
      .map(({ id }) => id)
      .sort(),
  )
  const stored = left.find(({ answer }) => answer !== '')
  expect(stored?.bytes).toBe(stored?.answer.length)
  await db.deleteFrom('idempotency_keys').execute()
})

test('changes nothing if the answer cannot be stored', async () => {
  const seal = createSeal('a secret key that only tests use, 32+ characters')
  let isBroken = false
  const broken = (plain: string, context: string) => {
    if (isBroken) throw new Error('cannot seal')
    return seal.seal(plain, context)
  }
  const server = await startServer({}, { seal: { ...seal, seal: broken } })
  try {
    const body = { name: 'Vendor', email: 'vendor@example.com', password: 'secret1' }
    const { token } = (await server.call('POST', '/auth/register', { body })).json.data
    const made = await server.call('POST', '/apps', { token, body: { name: 'Atlas' } })
    const request = { ...creation(), body: { ...creation().body, app: made.json.data.app._id } }
    isBroken = true
    expect(refusal(await send({ ...request, token }, 'one', { at: server }))).toBe('internal')
    isBroken = false
    const { stats } = (await server.call('GET', '/licenses', { token })).json.data
    expect(stats.total).toBe(0)
    expect((await send({ ...request, token }, 'one', { at: server })).status).toBe(201)
  } finally {
    await server.close()
  }
})

test('a reset of the account deletes its stored answers', async () => {
  const mine = await makeApp(other)
  await send({ ...creation(), body: { ...creation().body, app: mine._id }, token: other.token }, newKey())
  const stored = () =>
    on.database.db.selectFrom('idempotency_keys').select('id').where('owner_id', '=', other.id).execute()
  expect(await stored()).not.toHaveLength(0)
  await other.call('POST', '/settings/reset', { password: other.password })
  expect(await stored()).toHaveLength(0)
})

const insertRows = (db: TestServer['database']['db'], rows: Insertable<Tables['idempotency_keys']>[]) =>
  db.insertInto('idempotency_keys').values(rows).execute()

const second: { node?: TestServer } = {}
afterAll(() => second.node?.close())

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'servers that run the same request at once change it once and give the same answer',
  async () => {
    const url = on.config.databaseUrl ?? ''
    second.node = await startServer({ DATABASE_URL: url }, { clock: on.clock })
    for (let round = 0; round < 5; round += 1) {
      const license = await oneLicense()
      const key = newKey()
      const nodes = [on, second.node, on, second.node]
      const answers = await Promise.all(nodes.map((at) => send(extension(license), key, { at })))
      const done = answers.filter(({ status }) => status === 200)
      expect(done.length).toBeGreaterThan(0)
      expect(new Set(done.map(({ json }) => JSON.stringify(json))).size).toBe(1)
      const rest = answers.filter(({ status }) => status !== 200).map(refusal)
      expect(rest.every((code) => code === 'request_running')).toBe(true)
      expect(await endOf(license)).toBe(on.clock.inDays(40))
    }
    const key = newKey()
    const before = await countLicenses()
    const answers = await Promise.all([on, second.node].map((at) => send(importing(300), key, { at })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]?.json).toEqual(answers[1]?.json)
    expect(await countLicenses()).toBe(before + 300)
  },
)
