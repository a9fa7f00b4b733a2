// The databases of the test, and their ways back as docs/operations.md describes them.
import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { runKeyward } from '../command-line.ts'
import { readEmbedded, readPostgres, type Tables } from './rows.ts'

/** Where an installation keeps its data. */
export interface Store {
  name: 'sqlite' | 'postgres'
  /** The settings of its server, which change when it goes back. */
  environment(): Record<string, string>
  readRows(): Promise<Tables>
  /** What an operator does before an upgrade. */
  beforeUpgrade(): Promise<void>
  /** What an operator does to return to the version of before. */
  goBack(): Promise<void>
  remove(): Promise<void>
}

/** A start makes the copy of before itself. */
export function embeddedStore(folder: string): Store {
  const environment = { DATA_DIR: join(folder, 'data') }
  return {
    name: 'sqlite',
    environment: () => environment,
    readRows: async () => {
      const copy = join(folder, 'rows.db')
      // The server is stopped, so its log is in the file.
      copyFileSync(join(environment.DATA_DIR, 'keyward.db'), copy)
      return readEmbedded(copy)
    },
    beforeUpgrade: async () => {},
    goBack: async () => {
      const backups = join(environment.DATA_DIR, 'backups')
      const copies = readdirSync(backups).filter((name) => name.startsWith('before-migration-'))
      if (copies.length !== 1) throw new Error(`There are ${copies.length} copies of before the migration`)
      const { code, stderr } = await runKeyward(['restore', join(backups, copies[0]!)], environment)
      if (code !== 0) throw new Error(`keyward restore failed: ${stderr}`)
    },
    remove: async () => {},
  }
}

export async function postgresStore(folder: string, clusterUrl: string, name: string): Promise<Store> {
  const names = [`keyward_upgrade_${name}`, `keyward_upgrade_${name}_back`]
  const urlOf = (database = '') => Object.assign(new URL(clusterUrl), { pathname: database }).href
  const asAdmin = async (statements: readonly string[]) => {
    const admin = new pg.Client({ connectionString: clusterUrl })
    await admin.connect()
    for (const statement of statements) await admin.query(statement)
    await admin.end()
  }
  const drops = names.map((each) => `drop database if exists ${each} with (force)`)
  await asAdmin([
    ...drops,
    ...names.map((each) => `create database ${each} template template0 encoding UTF8`),
  ])
  const dump = join(folder, 'keyward.dump')
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' })
  let current = urlOf(names[0])
  return {
    name: 'postgres',
    environment: () => ({
      DATABASE_URL: current,
      SECRET_KEY: 'a secret key with more than 32 characters',
      DATA_DIR: join(folder, 'data'),
    }),
    readRows: () => readPostgres(current),
    beforeUpgrade: async () => {
      run('pg_dump', '--format=custom', `--file=${dump}`, current)
    },
    goBack: async () => {
      const next = urlOf(names[1])
      run('pg_restore', '--single-transaction', `--dbname=${next}`, dump)
      current = next
    },
    remove: () => asAdmin(drops),
  }
}
