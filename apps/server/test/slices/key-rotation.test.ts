// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import { SealRing } from '../../src/core/seal-ring.ts'
import { rotateKeys } from '../../src/db/key-rotation/rotate.ts'
import { watchKeys } from '../../src/db/key-rotation/watch.ts'
import { openSeal, readKeyMeta } from '../../src/db/secret-key.ts'
import { lockDataDir } from '../../src/db/sqlite/data-dir.ts'
import { sealedColumns } from '../../src/modules/system/sealed-columns.ts'
import { makeApp, refusal, registerUser, startProgram } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { fillSealed, listUnreadable, sealedValuesIn, storedCall } from '../key-rotations.ts'

const [before, after] = [
  'the key before, of 32 characters at least',
  'the key after, of 32 characters at least',
]
const keyBefore = { text: before, tokensUntil: Number.POSITIVE_INFINITY }
const ring = new SealRing(keyBefore, [{ ...keyBefore, text: after }], Buffer.alloc(32, 7))
const on = serverForAll({ SECRET_KEY: before }, { seal: ring, runsImports: false, deliversWebhooks: false })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const world = { on, owner, app }
const names = sealedColumns.map(({ table, column }) => `${table}.${column}`).sort()
const rotated = () => ({ ...on.config, secretKey: after, secretKeyPrevious: before })

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

test('of a full database while it serves seals every value anew, and no call fails', async () => {
  await openSeal(on.database, { ...on.config, secretKey: before })
  await fillSealed(world, ring)
  expect((await sealedValuesIn(on.database)).filter((name) => name !== 'meta.value')).toEqual(names)

  const stored = await storedCall(world)
  const release = lockDataDir(on.dataDir)
  const errors: unknown[] = []
  const end = watchKeys({
    ...{ database: on.database, seal: ring, settings: rotated() },
    onStranger: (error) => errors.push(error),
    onError: (error) => errors.push(error),
  })
  const load = startLoad()
  const report = await rotateKeys(on.database, rotated(), {
    ...{ columns: sealedColumns, clock: systemClock, tell: () => {} },
    servers: on.database.dialect === 'postgres' ? 1 : undefined,
  })
  const calls = await load.end()
  await end()
  release()

  expect(errors).toEqual([])
  expect(report.unreadable).toEqual({})
  expect(Object.keys(report.sealed).sort()).toEqual(names)
  expect(calls.refused).toEqual([])
  expect(calls.ok).toBeGreaterThan(20)
  expect((await readKeyMeta(on.database)).fingerprint).toBe(createSeal(after).fingerprint)
  expect(await listUnreadable(on.database, after)).toEqual([])
  for (const made of calls.apps) {
    const { json } = await owner.call('GET', `/apps/${made._id}`)
    expect(json.data.app.appSecret).toBe(made.appSecret)
  }
  expect(await storedCall(world)).toEqual(stored)
  // A server that starts without the key before knows all keyed hashes.
  const started = await openSeal(on.database, { ...on.config, secretKey: after })
  expect(started.digest('a device token')).toBe(createSeal(before).digest('a device token'))
})

/** Checks and writes that go on until they are ended. */
function startLoad() {
  const calls = { ok: 0, refused: [] as unknown[], apps: [] as { _id: string; appSecret: string }[] }
  let isEnding = false
  const repeat = async (call: (at: number) => Promise<unknown>) => {
    // Some calls at any moment are enough: the rotation needs the processor too.
    for (let at = 0; !isEnding; at += 1, await setTimeout(20)) {
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
