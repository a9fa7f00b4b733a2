import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { openDatabase } from '../src/db/open.ts'
import { databaseFile } from '../src/db/sqlite/data-dir.ts'

// Migrating takes longer than most tests, so each run migrates once and copies the result.
/** The time of the test clock when a server starts. */
export const startOfTests = Date.parse('2026-03-04T10:20:30.000Z')

async function migrateNew(url: string | undefined, dataDir: string): Promise<void> {
  const database = openDatabase({ url, dataDir })
  await migrate(database, migrations, { now: startOfTests })
  await database.close()
}

let migratedFile: Promise<string> | undefined

/** Copies a migrated, empty database into a data directory. */
export async function copyMigratedFile(dataDir: string): Promise<void> {
  migratedFile ??= makeMigratedFile()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  copyFileSync(await migratedFile, join(dataDir, databaseFile))
}

/** Makes a data directory with such a copy, on which a server starts in two thirds of the time. */
export async function makeDataDir(prefix: string): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), prefix))
  await copyMigratedFile(dataDir)
  return dataDir
}

async function makeMigratedFile(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'keyward-migrated-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  await migrateNew(undefined, directory)
  return join(directory, databaseFile)
}

/** Creates a migrated, empty database on a cluster, to be copied, and returns its name. */
export async function makeMigratedDatabase(clusterUrl: string): Promise<string> {
  const name = await createDatabase(clusterUrl)
  await migrateNew(databaseUrl(clusterUrl, name), tmpdir())
  return name
}

/** Creates an empty database, or a copy of `template`, and returns its name. */
export async function createDatabase(
  clusterUrl: string,
  { template = 'template1', tablespace = 'pg_default' } = {},
): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const client = new pg.Client({ connectionString: clusterUrl })
  await client.connect()
  await client.query(`create database ${name} template ${template} tablespace ${tablespace}`)
  await client.end()
  return name
}

export const databaseUrl = (clusterUrl: string, name: string): string =>
  Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).toString()
