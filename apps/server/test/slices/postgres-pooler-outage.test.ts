import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Owner, signUp } from '../actors.ts'
import { makePostgresCopy, startServer, type TestServer } from '../harness.ts'
import { findPgBouncer, type Pooler, startPgBouncer } from '../pgbouncer.ts'
import { rounds } from '../rounds.ts'
import { type Gate, openGate } from '../tcp-gate.ts'

/** A call that hangs takes longer on any machine; `npm run test:full` runs on one without other load. */
const limitMs = rounds(60_000, 5000)
const bin = findPgBouncer()
let gate: Gate
let pooler: Pooler
let on: TestServer
let owner: Owner

beforeAll(async () => {
  if (!bin) return
  const direct = new URL(await makePostgresCopy())
  gate = await openGate({ host: direct.hostname, port: Number(direct.port) })
  const url = Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(gate.port) })
  pooler = await startPgBouncer(bin, url.href)
  on = await startServer({ DATABASE_URL: pooler.url })
  owner = await signUp(on)
})
afterAll(async () => {
  if (!bin) return
  await on.close().catch(() => {})
  await pooler.stop()
  await gate.close()
})

test.skipIf(!bin)(
  'answers 503 within five seconds while PostgreSQL is down behind a pooler that is up',
  async () => {
    const calls = [
      () => on.call('GET', '/ready'),
      () => owner.call('GET', '/apps'),
      () => owner.call('POST', '/apps', { name: 'Atlas' }),
    ]
    expect((await on.call('GET', '/ready')).status).toBe(200)
    gate.cut()
    for (let round = 0; round < 4; round += 1)
      for (const call of calls) {
        const begun = performance.now()
        const { status, json } = await call()
        expect([status, json.code]).toEqual([503, 'database_unavailable'])
        expect(performance.now() - begun).toBeLessThan(limitMs)
      }
    gate.mend()
    // PgBouncer tries again after two seconds.
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
  },
)
