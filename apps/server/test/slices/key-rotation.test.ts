// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createSeal, SealRing } from '../../src/core/crypto.ts'
import { rotateKeys } from '../../src/db/key-rotation/rotate.ts'
import { watchKeys } from '../../src/db/key-rotation/servers.ts'
import { sealedColumnsOf } from '../../src/db/owned-tables.ts'
import { fingerprintOf, openSeal, readKeyMeta } from '../../src/db/secret-key.ts'
import { lockDataDir } from '../../src/db/sqlite/data-dir.ts'
import { secretContext } from '../../src/modules/apps/apps.service.ts'
import { modules } from '../../src/modules/index.ts'
import { makeApp, refusal, registerUser, startProgram } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { fillSealed, listUnreadable, sealedValuesIn, storedCall } from '../key-rotations.ts'

const [before, after] = [
  'the key before, of 32 characters at least',
  'the key after, of 32 characters at least',
]
const ringOf = (...texts: string[]) =>
  new SealRing(
    fingerprintOf(before),
    () => texts.map((text) => ({ text, tokensUntil: Number.POSITIVE_INFINITY })),
    Buffer.alloc(32, 7),
  )
const ring = ringOf(after, before)
const on = serverForAll({ SECRET_KEY: before }, { seal: ring, runsImports: false, deliversWebhooks: false })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const world = { on, owner, app }
const sealedColumns = sealedColumnsOf(modules)
const names = sealedColumns.map(({ table, column }) => `${table}.${column}`).sort()
const keys = (secretKey: string, secretKeyPrevious?: string) => ({
  ...on.config,
  ...{ secretKey, secretKeyPrevious },
})
const rotate = (secretKey: string, previous?: string, columns = sealedColumns) =>
  rotateKeys(on.database, keys(secretKey, previous), { columns, tell: () => {} })

async function writeWith(key: string) {
  const value = createSeal(key).seal(app.appSecret, secretContext(app._id))
  await on.database.db.updateTable('apps').set({ secret_sealed: value }).where('id', '=', app._id).execute()
}

/** Acts as a running server that uses this key ring. */
function serve(seal: SealRing) {
  const errors: unknown[] = []
  const release = on.config.databaseUrl === undefined ? lockDataDir(on.dataDir) : undefined
  const end = watchKeys({
    ...{ database: on.database, seal },
    onStranger: (error) => errors.push(error),
    onError: (error) => errors.push(error),
  })
  return {
    errors,
    end: async () => {
      await end()
      release?.()
    },
  }
}

test('every column that is sealed by its name is one of a rotation', async () => {
  const tables = await on.database.db.introspection.getTables()
  const byName = tables.flatMap(({ name, columns }) =>
    columns.flatMap((column) => (/sealed/.test(column.name) ? [`${name}.${column.name}`] : [])),
  )
  expect([...byName, 'idempotency_keys.answer'].sort()).toEqual(names)
  for (const { table, column, keys, needs = [] } of sealedColumns) {
    const columns = tables.find(({ name }) => name === table)?.columns.map(({ name }) => name)
    expect(columns).toEqual(expect.arrayContaining([column, ...keys, ...needs]))
  }
})

test('changes nothing while a server has the old key alone, and with a wrong previous key', async () => {
  await openSeal(on.database, keys(before))
  const first = await readKeyMeta(on.database)
  // A server with both keys goes on with the one that the others have.
  const both = await openSeal(on.database, keys(after, before))
  const old = ringOf(before)
  expect(old.open(both.seal('written meanwhile', 'of a test'), 'of a test')).toBe('written meanwhile')
  const server = serve(old)
  await expect(rotate(after, before)).rejects.toThrow(/does not hold the new key.*Nothing was changed/)
  await server.end()
  await expect(rotate(after, 'neither of both')).rejects.toThrow(/not the key .*Nothing was changed/)
  await expect(openSeal(on.database, keys(after, 'neither of both'))).rejects.toThrow('not the key')
  await expect(rotate(before)).rejects.toThrow('Set SECRET_KEY to a new key')
  expect(server.errors).toEqual([])
  expect(await readKeyMeta(on.database)).toEqual(first)
})

test('of a full database while it serves seals every value anew, and no call fails', async () => {
  await fillSealed(world, ring)
  expect((await sealedValuesIn(on.database)).filter((name) => name !== 'meta.value')).toEqual(names)

  const stored = await storedCall(world)
  const server = serve(ring)
  const load = startLoad()
  const passesAt: number[] = []
  let turnedAt = 0
  const columns = Object.assign([...sealedColumns], {
    [Symbol.iterator]: () => {
      passesAt.push(performance.now())
      return sealedColumns.values()
    },
  })
  const tell = () => {
    turnedAt = performance.now()
  }
  const report = await rotateKeys(on.database, keys(after, before), { columns, tell })
  const calls = await load.end()
  await server.end()

  expect(server.errors).toEqual([])
  // The last pass finds what a request has sealed before, and stored since.
  expect((passesAt.at(-1) ?? 0) - turnedAt).toBeGreaterThan(4900)
  expect(report.unreadable).toEqual({})
  expect(Object.keys(report.sealed).sort()).toEqual(names)
  expect(calls.refused).toEqual([])
  expect(calls.ok).toBeGreaterThan(0)
  expect((await readKeyMeta(on.database)).fingerprint).toBe(fingerprintOf(after))
  expect(await listUnreadable(on.database, after)).toEqual([])
  for (const made of calls.apps) {
    const { json } = await owner.call('GET', `/apps/${made._id}`)
    expect(json.data.app.appSecret).toBe(made.appSecret)
  }
  expect(await storedCall(world)).toEqual(stored)
  // A server that starts without the key before knows all keyed hashes.
  const started = await openSeal(on.database, keys(after))
  expect(started.digest('a device token')).toBe(createSeal(before).digest('a device token'))
})

test('can be repeated, and ends a server that missed it', async () => {
  // A server that hung during the rotation has written with the key before.
  await writeWith(before)
  const server = serve(ringOf(before))
  await eventually(() =>
    expect(server.errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('it stops') }),
    ]),
  )
  await server.end()
  expect(await rotate(after, before)).toEqual({
    sealed: { 'apps.secret_sealed': 1 },
    unreadable: {},
    oldKey: null,
  })
  expect(await listUnreadable(on.database, after)).toEqual([])
})

test('that 1.1 has left unfinished ends with its two keys, and no server starts with one of them', async () => {
  const next = 'the key after that, of 32 characters'
  const rotation = { from: fingerprintOf(after), to: fingerprintOf(next), runner: 'a dead one', beat: 7 }
  const store = (phase: string) => {
    const value = JSON.stringify({
      from: rotation.from,
      to: rotation.to,
      phase,
      runner: rotation.runner,
      beat: 7,
    })
    return on.database.db.insertInto('meta').values({ name: 'secret_key_rotation', value }).execute()
  }
  // It had asked the servers, and changed nothing.
  await store('announced')
  await on.database.db
    .insertInto('meta')
    .values({ name: 'secret_key_server:a-dead-one', value: '{}' })
    .execute()
  expect((await openSeal(on.database, keys(after))).fingerprint).toBe(rotation.from)
  await rotate(next, after, sealedColumns.slice(0, 1))
  expect((await readKeyMeta(on.database)).fingerprint).toBe(rotation.to)
  const left = on.database.db.selectFrom('meta').select('name').where('name', 'like', 'secret_key%')
  expect((await left.execute()).map(({ name }) => name).sort()).toEqual([
    'secret_key_digest',
    'secret_key_fingerprint',
  ])

  // It had sealed one column of all.
  await store('sealing')
  await expect(openSeal(on.database, keys(next))).rejects.toThrow('one of its keys is missing')
  await expect(rotate('a third key, of 32 characters or more', next)).rejects.toThrow(
    'one of its keys is missing',
  )
  const report = await rotate(next, after)
  expect(report.unreadable).toEqual({})
  expect(Object.keys(report.sealed).length).toBe(names.length - 1)
  expect(await listUnreadable(on.database, next)).toEqual([])
  expect((await readKeyMeta(on.database)).unfinished).toBeUndefined()
  expect((await openSeal(on.database, keys(next))).digest('x')).toBe(createSeal(before).digest('x'))
})

/** Checks and writes that go on until they are ended. */
function startLoad() {
  const calls = { ok: 0, refused: [] as unknown[], apps: [] as { _id: string; appSecret: string }[] }
  let isEnding = false
  const repeat = async (call: (at: number) => Promise<unknown>) => {
    // Some calls at any moment are enough: the rotation needs the processor too.
    for (let at = 0; !isEnding; at += 1, await setTimeout(60)) {
      await call(at).then(
        () => {
          calls.ok += 1
        },
        (error: unknown) => calls.refused.push(error),
      )
    }
  }
  const running = (async () => {
    const mine = await makeApp(owner, 'Load')
    const { program } = await registerUser(on, owner, mine, 'load')
    const opened = await startProgram(on, mine)
    const unknown = { licenseKey: 'unknown', hwid: 'pc-1' }
    await Promise.all([
      repeat(async () => expect((await program.call('GET', '/session')).status).toBe(200)),
      // Its token is sealed with the key before.
      repeat(async () => expect(refusal(await opened.call('POST', '/license', unknown))).toBe('keyNotFound')),
      repeat(async () => void (await startProgram(on, mine))),
      repeat(async (at) => {
        const made = await makeApp(owner, `Made ${at}`)
        if (calls.apps.length < 20) calls.apps.push(made)
        else await owner.call('DELETE', `/apps/${made._id}`)
      }),
      repeat(async (at) => {
        const change = { variables: [{ name: 'at', value: String(at), public: false }] }
        expect((await owner.call('PUT', `/apps/${mine._id}/variables`, change)).status).toBe(200)
      }),
    ])
  })()
  return {
    async end() {
      isEnding = true
      await running
      return calls
    },
  }
}
