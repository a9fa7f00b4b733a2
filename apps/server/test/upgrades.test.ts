import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { version } from '../src/core/version.ts'
import { databaseFault } from '../src/db/faults.ts'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { openDatabase } from '../src/db/open.ts'
import { prepare } from '../src/db/prepare.ts'
import { runKeywardInHost } from './command-line.ts'
import { startProcess } from './server-process.ts'
import { mountSmallDisk } from './small-disk.ts'

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

test('an upgrade on a full disk says what its copy needs, and changes and leaves nothing', async ({
  skip,
}) => {
  const disk = mountSmallDisk(32)
  if (!disk) return skip('mounting a file system is not permitted here')
  const settings = { DATA_DIR: join(disk.path, 'data') }
  const status = () => runKeywardInHost(['migrate', '--status', '--json'], settings)
  try {
    const database = openDatabase({ url: undefined, dataDir: settings.DATA_DIR })
    await migrate(database, migrations.slice(0, -2), { now: 0 })
    await database.close()
    const files = readdirSync(settings.DATA_DIR)
    disk.fill(1_000_000)
    await expect(startProcess(settings)).rejects.toThrow(
      /The copy of before the upgrade needs \d\.\d MB in \S+backups, and 0\.\d MB are free: free some space, then retry\. Nothing was changed\.\n$/,
    )
    expect(
      readdirSync(settings.DATA_DIR).filter((name) => !files.includes(name) && name !== 'server.lock'),
    ).toEqual([])
    expect(JSON.parse((await status()).stdout).missing).toEqual([beforeLast, last])
    disk.empty()
    await (await startProcess(settings)).end('SIGTERM')
    expect(JSON.parse((await status()).stdout).missing).toEqual([])
  } finally {
    disk.unmount()
  }
})

test('an upgrade that finds no space for its changes keeps the database and removes its copy', async ({
  skip,
}) => {
  const disk = mountSmallDisk(32)
  if (!disk) return skip('mounting a file system is not permitted here')
  const dataDir = join(disk.path, 'data')
  try {
    const database = openDatabase({ url: undefined, dataDir })
    await migrate(database, migrations.slice(0, -2), { now: 0 })
    await database.close()
    const config = readConfig({ DATA_DIR: dataDir })
    // What another program writes meanwhile.
    const fillAfterCopy = (line: string) => void (line.startsWith('Its copy') && disk.fill())
    const failed = await prepare(config, fillAfterCopy).catch((error: unknown) => error)
    expect(databaseFault(failed, config)?.message).toBe(
      `The disk of DATA_DIR ${dataDir} is full: free 8.0 MB, then retry.`,
    )
    expect(readdirSync(join(dataDir, 'backups'))).toEqual([])
    disk.empty()
    const { database: upgraded } = await prepare(config)
    await upgraded.close()
    expect(readdirSync(join(dataDir, 'backups'))).toHaveLength(1)
  } finally {
    disk.unmount()
  }
})
