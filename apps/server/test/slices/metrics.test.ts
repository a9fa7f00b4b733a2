// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { version } from '../../src/core/version.ts'
import { makeApp, signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'

const token = 'a token of the metrics'
const deploy = fileURLToPath(new URL('../../../../deploy/', import.meta.url))

let on: TestServer
afterEach(() => on.close())

const scrape = (authorization?: string) =>
  on.server.inject({ method: 'GET', url: '/metrics', headers: authorization ? { authorization } : {} })

/** The value of a sample by its name and labels as they are shown. */
async function read(sample: string): Promise<number | undefined> {
  const { body } = await scrape()
  const line = body.split('\n').find((each) => each.startsWith(`${sample} `))
  return line === undefined ? undefined : Number(line.slice(sample.length))
}

describe('the metrics', () => {
  const reachable = { PUBLIC_URL: 'https://keys.example.com', RATE_LIMITS: 'on', PAYMENTS: 'off' }

  test('are like a missing page without METRICS_TOKEN, unless only this machine reaches the server', async () => {
    on = await startServer(reachable)
    expect((await scrape()).statusCode).toBe(404)
    await on.close()
    on = await startServer()
    expect((await scrape()).statusCode).toBe(200)
  })

  test('are shown for METRICS_TOKEN alone', async () => {
    on = await startServer({ ...reachable, METRICS_TOKEN: token })
    for (const wrong of [undefined, token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer '])
      expect((await scrape(wrong)).statusCode).toBe(401)
    const answer = await scrape(`Bearer ${token}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toContain('application/openmetrics-text')
    expect(answer.body).toContain(`keyward_info{version="${version}"} 1\n`)
    expect(answer.body).not.toContain(token)
    expect(answer.body.endsWith('# EOF\n')).toBe(true)
  })

  test('count requests by route, and refusals by code, those of programs too', async () => {
    on = await startServer()
    const owner = await signUp(on)
    const app = await makeApp(owner)
    for (let id = 0; id < 3; id++) await owner.call('GET', `/apps/app_missing${id}`)
    const { appId } = app
    await on.call('POST', '/client/validate', { body: { appId, licenseKey: 'MISSING-KEY' } })
    await on.call('POST', '/client/init', { body: { appId, secret: 'wrong', version: '1.0.0' } })
    expect(await read('keyward_request_seconds_count{method="GET",route="/api/apps/:id",status="404"}')).toBe(
      3,
    )
    expect(await read('keyward_refusals_total{code="not_found"}')).toBe(3)
    expect(await read('keyward_refusals_total{code="keyNotFound"}')).toBe(1)
    // What people type into an address makes no line of its own.
    for (let page = 0; page < 5; page++) await on.server.inject(`/nothing/${page}`)
    const { body } = await scrape()
    expect(body).not.toContain('/nothing')
  })

  test('show the database, what waits, and the age of the newest backup', async () => {
    on = await startServer()
    expect(await read('keyward_database_up')).toBe(1)
    expect(await read('keyward_outbox_waiting{outbox="mails"}')).toBe(0)
    for (const queue of ['passwords', 'requests', 'jobs', 'bodies', 'program_writes', 'lists'])
      expect(await read(`keyward_queue_waiting{queue="${queue}"}`)).toBe(0)
    const { dataDir, databaseUrl } = on.config
    const madeAt = new Date(on.clock.now() - 3_600_000).toISOString().replace(/[:.]/g, '-')
    await on.close()
    mkdirSync(join(dataDir, 'backups'), { recursive: true })
    for (const name of [`keyward-${madeAt}.tar`, 'keyward-2020-01-01T00-00-00-000Z.tar', 'note.tar'])
      writeFileSync(join(dataDir, 'backups', name), '')
    on = await startServer({ DATA_DIR: dataDir, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) })
    const age = await read('keyward_backup_age_seconds')
    if (databaseUrl) expect(age).toBeUndefined()
    else expect(Math.abs((age ?? 0) - 3600)).toBeLessThan(60)
    expect(await read('keyward_database_connections{state="awaited"}')).toBe(databaseUrl ? 0 : undefined)
  })

  test('read the database once in five seconds, however often they are asked', async () => {
    on = await startServer()
    const asked = vi.spyOn(on.database.engine, 'probe')
    const answers = await Promise.all(Array.from({ length: 50 }, () => scrape()))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(50).fill(200))
    expect(asked).toHaveBeenCalledTimes(1)
  })
})

describe('alerts and dashboard', () => {
  test('name metrics that the server has', async () => {
    on = await startServer()
    await on.call('GET', '/apps')
    const { body } = await scrape()
    const files = ['prometheus/keyward.rules.yml', 'grafana/keyward.json'].map((file) =>
      readFileSync(join(deploy, file), 'utf8'),
    )
    const named = new Set(
      files.flatMap((text) => text.match(/\b(?:keyward|nodejs|process)_[a-z0-9_]+/g) ?? []),
    )
    expect(named.size).toBeGreaterThan(12)
    // An embedded database has no connections, and a new server no backup.
    const absent = ['keyward_database_connections', 'keyward_backup_age_seconds']
    const known = (name: string) =>
      new RegExp(`^(# TYPE )?${name.replace(/_total$/, '')}(_total)?[ {]`, 'm').test(body)
    expect([...named].filter((name) => !absent.includes(name) && !known(name))).toEqual([])
    for (const name of absent) expect(body).toContain(`# TYPE ${name} gauge`)
  })

  test.skipIf(spawnSync('promtool', ['--version']).status !== 0)(
    'fire and stay silent as their tests say',
    async () => {
      on = await startServer()
      const folder = join(deploy, 'prometheus')
      execFileSync('promtool', ['check', 'rules', 'keyward.rules.yml'], { cwd: folder })
      execFileSync('promtool', ['test', 'rules', 'keyward.tests.yml'], { cwd: folder })
    },
  )
})
