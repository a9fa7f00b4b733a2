// On SQLite alone: what it asserts is decided before any SQL.
import { type ClientRequest, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeApp, signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'

const mib = 1_048_576
const open: { on: TestServer; port: number }[] = []
const requests: ClientRequest[] = []

async function listening(bodies: { waitMs?: number; perNetwork?: number }, uploadMs: number) {
  const gateSizes = {
    bodies: { running: 4 * mib, perNetwork: 4 * mib, waiting: 100, waitMs: 60_000, ...bodies },
    uploadMs,
  }
  const on = await startServer({ TRUST_PROXY: '1', RATE_LIMITS: 'on', PAYMENTS: 'off' }, { gateSizes })
  await on.server.listen({ port: 0, host: '127.0.0.1' })
  const [address] = on.server.addresses() as { port: number }[]
  open.push({ on, port: address?.port ?? 0 })
  return { on, port: address?.port ?? 0 }
}

let quick: Awaited<ReturnType<typeof listening>>
let patient: Awaited<ReturnType<typeof listening>>
beforeAll(async () => {
  quick = await listening({ waitMs: 100 }, 60_000)
  patient = await listening({}, 100)
})
afterAll(async () => {
  for (const one of requests) one.destroy()
  for (const { on } of open) await on.close()
})

/** An import of a megabyte of an own account, whose body is sent on demand. */
async function startImport({ on, port }: typeof quick, from: string) {
  const owner = await signUp(on)
  const app = await makeApp(owner)
  const line = `2036-01-01,${'n'.repeat(180)}`
  const csv = ['expiresAt,note', ...Array.from({ length: 5000 }, () => line)].join('\n')
  const body = JSON.stringify({ app: app._id, csv, dryRun: true })
  const sent = request({
    port,
    method: 'POST',
    path: '/api/licenses/import',
    agent: false,
    headers: {
      authorization: `Bearer ${owner.token}`,
      'x-forwarded-for': from,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  })
  requests.push(sent)
  const answer = new Promise<{ status: number; code?: string; retryAfter?: string | undefined }>(
    (resolve) => {
      sent.on('error', () => resolve({ status: 0 }))
      sent.on('response', async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const { code } = JSON.parse(Buffer.concat(chunks).toString())
        resolve({ status: response.statusCode ?? 0, code, retryAfter: response.headers['retry-after'] })
      })
    },
  )
  sent.flushHeaders()
  return { answer, finish: () => void sent.end(body) }
}

test('admits four megabytes of imports at once; a fifth gets 429 before its body is read', async () => {
  const imports = []
  for (let at = 0; at < 4; at += 1) imports.push(await startImport(quick, `10.${at}.0.1`))
  const fifth = await startImport(quick, '10.9.0.1')
  expect(await fifth.answer).toEqual({ status: 429, code: 'busy', retryAfter: '5' })
  for (const { finish, answer } of imports) {
    finish()
    expect((await answer).status).toBe(200)
  }
  const again = await startImport(quick, '10.9.0.1')
  again.finish()
  expect((await again.answer).status).toBe(200)
})

test('ends uploads that do not arrive while others wait', async () => {
  const stalled = []
  for (let at = 0; at < 4; at += 1) stalled.push(await startImport(patient, `10.${at}.0.1`))
  const honest = await startImport(patient, '10.9.0.1')
  honest.finish()
  expect((await honest.answer).status).toBe(200)
  expect(await Promise.race(stalled.map(({ answer }) => answer))).toEqual({ status: 0 })
})

test('leaves half of the room to others than one network', async () => {
  const halved = await listening({ waitMs: 100, perNetwork: 2 * mib }, 60_000)
  const [first] = [await startImport(halved, '10.0.0.1'), await startImport(halved, '10.0.0.2')]
  expect((await (await startImport(halved, '10.0.0.3')).answer).code).toBe('busy')
  const other = await startImport(halved, '10.1.0.1')
  other.finish()
  expect((await other.answer).status).toBe(200)
  first.finish()
  expect((await first.answer).status).toBe(200)
})
