import { constants, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '../apps/server/test/postgres-cluster.ts'
import { type Running, startServer } from './processes.ts'
import { readSeeded, type Seeded, seed, seededFolder } from './seed.ts'

export type Engine = 'sqlite' | 'postgres'

interface EngineOptions {
  database: Engine
  licenses: number
  /** Flags of Node. */
  flags?: string[]
  /** Another version of the project. */
  checkout?: string
  /** A seeded folder of an embedded database, used in place and changed. */
  data?: string | undefined
}

type Use = (server: Running, seeded: Seeded) => Promise<void>

/** Runs a server on data of its own. */
export const withServer = (wanted: EngineOptions, use: Use): Promise<void> =>
  wanted.database === 'postgres' ? onPostgres(wanted, use) : onSqlite(wanted, use)

async function onSqlite({ licenses, flags, checkout, data }: EngineOptions, use: Use): Promise<void> {
  if (data) return withEnvironment({ DATA_DIR: data }, { flags, checkout }, readSeeded(data), use)
  const folder = await seededFolder(licenses)
  const work = mkdtempSync(join(tmpdir(), 'keyward-bench-run-'))
  try {
    for (const name of readdirSync(folder)) {
      copyFileSync(join(folder, name), join(work, name), constants.COPYFILE_FICLONE)
    }
    await withEnvironment({ DATA_DIR: work }, { flags, checkout }, readSeeded(folder), use)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** On a private cluster with PostgreSQL's own settings for durability and statistics. */
async function onPostgres({ licenses, flags, checkout }: EngineOptions, use: Use): Promise<void> {
  const cluster = await startCluster({
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    autovacuum: 'on',
  })
  const work = mkdtempSync(join(tmpdir(), 'keyward-bench-run-'))
  try {
    const environment = { DATABASE_URL: cluster.url, DATA_DIR: work, SECRET_KEY: 'x'.repeat(40) }
    await seed(environment, licenses, work)
    await withEnvironment(environment, { flags, checkout }, readSeeded(work), use)
  } finally {
    await cluster.stop()
    rmSync(work, { recursive: true, force: true })
  }
}

async function withEnvironment(
  environment: Record<string, string>,
  { flags, checkout }: Pick<EngineOptions, 'checkout'> & { flags: string[] | undefined },
  seeded: Seeded,
  use: Use,
): Promise<void> {
  const server = await startServer(environment, flags, checkout)
  try {
    await use(server, seeded)
  } finally {
    await server.stop()
  }
}
