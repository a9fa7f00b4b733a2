import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { version } from '../src/core/version.ts'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { openDatabase } from '../src/db/open.ts'
import { runKeywardInHost } from './command-line.ts'
import { startProcess } from './server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-upgrade-'))
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const run = (...args: string[]) => runKeywardInHost(args, { DATA_DIR: dataDir })
const [beforeLast, last] = migrations.slice(-2).map(({ name }) => name)

test('an upgrade says what it does, and the copy of before leads back', async () => {
  const database = openDatabase({ url: undefined, dataDir })
  await migrate(database, migrations.slice(0, -2), { now: 0 })
  await database.close()

  const before = await run('migrate', '--status', '--json')
  expect(JSON.parse(before.stdout)).toEqual({
    version,
    schema: migrations.at(-3)?.name,
    applied: migrations.length - 2,
    missing: [beforeLast, last],
  })

  const server = await startProcess({ DATA_DIR: dataDir })
  const output = server.output()
  await server.end('SIGTERM')
  const [copy] = readdirSync(join(dataDir, 'backups'))
  expect(output).toContain(`Upgrading the database to ${version}: 2 migrations, ${beforeLast} to ${last}\n`)
  expect(output).toContain(`Its copy of before is ${join(dataDir, 'backups', copy ?? '')}\n`)
  expect(output).toMatch(/Upgraded the database in \d+\.\d s\n/)
  expect(output).toContain(`  version   ${version}\n`)
  expect((await run('migrate', '--status')).stdout).toContain(`The database is at ${last}, `)
  expect((await run('migrate', '--status')).stdout).toContain('Nothing is missing.')

  const restored = await run('restore', join(dataDir, 'backups', copy ?? ''))
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse((await run('migrate', '--status', '--json')).stdout).missing).toEqual([beforeLast, last])
})

test('a first start says nothing of an upgrade', async () => {
  const server = await startProcess({ DATA_DIR: dataDir })
  const output = server.output()
  await server.end('SIGTERM')
  expect(output).not.toMatch(/Upgrad|copy/)
})

test('migrate without --status changes nothing, and says when migrations run', async () => {
  const result = await run('migrate')
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('Migrations run when the server starts.')
})
