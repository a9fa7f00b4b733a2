// In the full run: it starts a server several times; shops, mails and imports are killed in every run.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { makePostgresCopy } from '../harness.ts'
import { rounds } from '../rounds.ts'
import { callOver, quickestOf, type ServerProcess, startProcess } from '../server-process.ts'

const host = quickestOf('test/webhook-host.ts')
const dataDir = mkdtempSync(join(tmpdir(), 'keyward-webhooks-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const eventCount = rounds(120, 10_000)
const licenseCount = rounds(12, 100)
const eventsOfEach = eventCount / licenseCount
const kills = 3
const key = 'a secret key that only tests use, 32+ characters'

interface Arrival {
  id: string
  subject: string
  type: string
  reason: string | null | undefined
}

/** A receiver that refuses every third request, by chance. */
async function startReceiver() {
  const accepted: Arrival[] = []
  let refused = 0
  const server = createServer(async (request, response) => {
    const { type, data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (Math.random() < 1 / 3) {
      refused += 1
      response.writeHead(500).end()
      return
    }
    const id = String(request.headers['webhook-id'])
    accepted.push({ id, type, subject: data.subject._id, reason: data.detail.reason })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    accepted,
    refused: () => refused,
    close: () => server.close(),
  }
}

const isPostgres = process.env.TEST_DATABASE === 'postgres'
/** SQLite has one process, which is restarted. */
const nodeCount = isPostgres ? 2 : 1

test('every event arrives in the order of its subject, through three kills and a receiver that fails', async () => {
  const environment = {
    ...{ DATA_DIR: mkdtempSync(join(dataDir, 'server-')), SECRET_KEY: key, DEFAULT_PLAN: 'premium' },
    ...(isPostgres ? { DATABASE_URL: await makePostgresCopy() } : {}),
  }
  const start = () => startProcess(environment, [], host)
  const nodes: ServerProcess[] = []
  for (let at = 0; at < nodeCount; at += 1) nodes.push(await start())
  const receiver = await startReceiver()
  let token: string | undefined
  let calls = 0
  /** Asks any node, again while it is being killed and restarted. */
  const call = async (method: string, path: string, body?: object) => {
    calls += 1
    const headers = { 'idempotency-key': `call-${calls}` }
    return eventually(
      async () => {
        const node = nodes[Math.floor(Math.random() * nodes.length)]!
        const answer = await callOver(node.url, method, path, { ...(token && { token }), body, headers })
        if (answer.status >= 300) throw new Error(JSON.stringify(answer.json))
        return answer.json.data
      },
      { timeout: 60_000, interval: 20 },
    )
  }
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  token = (await call('POST', '/auth/register', vendor)).token
  const { app } = await call('POST', '/apps', { name: 'Atlas' })
  const wanted = { app: app._id, expiresAt: '2999-01-01', count: licenseCount }
  const { licenses } = await call('POST', '/licenses', wanted)
  await call('POST', '/webhooks', { url: receiver.url, events: ['license.banned', 'license.unbanned'] })

  const began = performance.now()
  const making = Promise.all(
    licenses.map(async ({ _id }: { _id: string }) => {
      for (let at = 0; at < eventsOfEach; at += 1) {
        await call('PATCH', `/licenses/${_id}/toggle-ban`, at % 2 === 0 ? { reason: `${at}` } : {})
      }
    }),
  )
  const killing = (async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      const reached = (eventCount * kill) / (kills + 1)
      await eventually(() => expect(receiver.accepted.length).toBeGreaterThan(reached), {
        timeout: 1_800_000,
        interval: 5,
      })
      const at = kill % nodeCount
      await nodes[at]!.end('SIGKILL')
      nodes[at] = await start()
    }
  })()
  await Promise.all([making, killing])
  const distinct = () => new Map(receiver.accepted.map((one) => [one.id, one] as const))
  await eventually(() => expect(distinct().size).toBe(eventCount), { timeout: 1_800_000, interval: 100 })
  const seconds = Math.round((performance.now() - began) / 1000)
  for (const node of nodes) expect(await node.end('SIGTERM')).toBe(0)
  receiver.close()

  const bySubject = Map.groupBy(distinct().values(), ({ subject }) => subject)
  const expected = Array.from({ length: eventsOfEach }, (_, at) =>
    at % 2 === 0 ? `license.banned ${at}` : 'license.unbanned',
  )
  for (const { _id } of licenses) {
    const found = bySubject.get(_id)!.map(({ type, reason }) => (reason ? `${type} ${reason}` : type))
    expect(found).toEqual(expected)
  }
  const duplicates = receiver.accepted.length - eventCount
  console.info(`${eventCount} events, ${receiver.refused()} refusals, ${duplicates} duplicates, ${seconds} s`)
  // Each kill repeats what was being delivered: four at once. On a slow machine a lease can end, too.
  expect(duplicates).toBeLessThanOrEqual(Math.max(kills * 4, eventCount / 100))
}, 3_600_000)
