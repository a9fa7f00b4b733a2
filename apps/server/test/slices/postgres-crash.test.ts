import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { activateKey, makeApp, makePremium, signUp } from '../actors.ts'
import { type Answer, startServer } from '../harness.ts'
import { startPrivateCluster } from '../postgres-cluster.ts'

test('a crash of PostgreSQL loses no acknowledged write, and the server recovers without a restart', async () => {
  const cluster = await startPrivateCluster({ synchronous_commit: 'on' })
  const lines: string[] = []
  const on = await startServer(
    { DATABASE_URL: cluster.url },
    { logLevel: 'error', log: { write: (line) => void lines.push(line) } },
  )
  const address = await on.server.listen({ port: 0, host: '127.0.0.1' })
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  const { program, license } = await activateKey(on, owner, app)
  const live = await listen(`${address}/api/events`, owner.token)

  const acknowledged: string[] = []
  const answers = new Set<string>()
  let isOver = false
  const repeat = async (call: () => Promise<Answer>) => {
    while (!isOver) {
      const { status, json } = await call()
      answers.add(`${status} ${json.code ?? ''}`)
      if (status === 201) acknowledged.push(json.data.license.key)
      if (status === 503) await wait(20)
    }
  }
  const body = { app: app._id, expiresAt: on.clock.inDays(30) }
  const check = { appId: app.appId, licenseKey: license.key }
  const load = [
    ...Array.from({ length: 4 }, () => repeat(() => owner.call('POST', '/licenses', body))),
    ...Array.from({ length: 4 }, () => repeat(() => program.call('GET', '/session'))),
    ...Array.from({ length: 2 }, () => repeat(() => on.call('POST', '/client/validate', { body: check }))),
  ]
  try {
    for (const more of [20, 20]) {
      const enough = acknowledged.length + more
      await expect.poll(() => acknowledged.length).toBeGreaterThan(enough)
      await cluster.crash()
      await expect.poll(() => [...answers]).toContain('503 database_unavailable')
      for (const path of ['/ready', '/ready?for=checks'])
        expect((await on.call('GET', path)).json.code).toBe('database_unavailable')
      expect((await on.call('GET', '/health')).status).toBe(200)
      await cluster.restart()
      await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
      const seen = live.changes()
      await expect.poll(live.changes).toBeGreaterThan(seen)
    }
    isOver = true
    await Promise.all(load)
    expect([...answers].sort()).toEqual(['200 ', '201 ', '503 database_unavailable'])
    const rows = await on.database.db.selectFrom('licenses').select('key').execute()
    const stored = new Set(rows.map(({ key }) => key))
    expect(acknowledged.filter((key) => !stored.has(key))).toEqual([])
    const counts = () => (on.database.dialect === 'postgres' ? on.database.pool.counts : undefined)
    await expect.poll(() => counts()?.waiting).toBe(0)
    expect(counts()?.open).toBeLessThanOrEqual(10)
    // The line is rare: an earlier server of the same process may have logged it.
    const logged = new Set(lines.map((line) => JSON.parse(line).msg))
    expect([...logged].filter((msg) => msg !== 'the database fails')).toEqual([])
  } finally {
    isOver = true
    live.stop()
    await on.close()
    await cluster.stop()
  }
})

/** Opens a stream of live events and counts the changes that it reports. */
async function listen(url: string, token: string) {
  const stop = new AbortController()
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal })
  let changes = 0
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? [])
      changes += decoder.decode(chunk).split('event: change').length - 1
  })().catch(() => {})
  return { changes: () => changes, stop: () => stop.abort() }
}
