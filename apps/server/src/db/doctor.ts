// ADR 94: reads the state of a database for `keyward doctor` and changes nothing.
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { day, minute, systemClock } from '../core/clock.ts'
import { type Finding, failure, fine, warning } from '../core/finding.ts'
import { freeOf } from './disk-room.ts'
import { SchemaTooNewError } from './migrate.ts'
import type { OpenDatabase } from './open.ts'
import { readSchemaState } from './prepare.ts'
import { findKey, keysOf, readKeyMeta, UnfinishedRotationError } from './secret-key.ts'
import { keyFile, listLooseFiles } from './sqlite/data-dir.ts'

const [enoughBytes, leastBytes] = [1_073_741_824, 67_108_864]
const clockToleranceMs = minute
const oldestServer = 140_000
const connectionsOfNode = 12

export async function checkFiles({ dataDir }: Config): Promise<Finding[]> {
  if (!existsSync(dataDir)) return [fine('There is no data directory to check.')]
  const loose = listLooseFiles(dataDir).map(({ path, text, wanted }) =>
    failure(text, `chmod ${wanted} ${path}`),
  )
  return loose.length > 0 ? loose : [fine('No other account can open the data directory.')]
}

export async function checkDisk({ dataDir }: Config): Promise<Finding[]> {
  if (!existsSync(dataDir)) return [fine('There is no data directory to check.')]
  const free = freeOf(await statfs(dataDir))
  const text = `${dataDir} has ${Math.floor(free / 1_048_576)} MiB left.`
  const fix = `Free space on the disk of ${dataDir}, or move DATA_DIR to a larger one.`
  if (free < leastBytes) return [failure(text, fix)]
  return [free < enoughBytes ? warning(text, fix) : fine(text)]
}

export async function checkKey({ db }: OpenDatabase, config: Config): Promise<Finding[]> {
  const path = join(config.dataDir, keyFile)
  const { fingerprint: known, isReplacingLost, unfinished } = await readKeyMeta({ db })
  if (isReplacingLost) return [failure('Replacing a lost key is unfinished.', 'keyward keys replace-lost')]
  if (known === undefined) return [fine('Nothing is encrypted yet.')]
  if (keysOf(config).length === 0)
    return [
      failure(
        'The key of the database is missing.',
        `Restore ${path}, or set SECRET_KEY. If it is lost: keyward keys replace-lost`,
      ),
    ]
  if (findKey(config, known) === undefined)
    return [
      failure(
        'The key is not the one that the database was encrypted with.',
        config.secretKey === undefined
          ? `Restore ${path} from where it is kept.`
          : 'Set SECRET_KEY to the key of this database.',
      ),
    ]
  if (!unfinished) return [fine('The key opens the database.')]
  if (findKey(config, unfinished.from) === undefined)
    return [failure(new UnfinishedRotationError(config).message, 'If it is lost: keyward keys replace-lost')]
  return [warning('A rotation of the secret key is unfinished: both keys are needed.', 'keyward keys rotate')]
}

export async function checkSchema(database: OpenDatabase): Promise<Finding[]> {
  const state = await readSchemaState(database).catch((error: unknown) => {
    if (error instanceof SchemaTooNewError) return error
    throw error
  })
  if (state instanceof SchemaTooNewError)
    return [failure(state.message, 'Install the newest version that used this database.')]
  const { applied, missing } = state
  return missing.length === 0
    ? [fine(`The schema is ${applied.at(-1)}.`)]
    : [warning(`${missing.length} migrations have not run.`, 'Restart the server: it runs them.')]
}

/** Compares the clock with stored times, to find one that was set back, and with the clock of the database server. */
export async function checkClock(database: OpenDatabase): Promise<Finding[]> {
  const fix = 'Set the clock, for example with timedatectl set-ntp true.'
  const newest = await database.db
    .selectFrom('audit')
    .select('created_at')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const ahead = (newest?.created_at ?? 0) - systemClock.now()
  if (ahead > clockToleranceMs)
    return [failure(`The newest record is ${Math.round(ahead / 1000)} s in the future.`, fix)]
  if (database.dialect === 'sqlite') return [fine('No record is in the future.')]
  const before = systemClock.now()
  const { rows } = await sql<{ now: number }>`select
    extract(epoch from clock_timestamp()) * 1000 as now`.execute(database.db)
  const after = systemClock.now()
  const theirs = Number(rows[0]?.now)
  const off = Math.max(before - theirs, theirs - after, 0)
  const text = `The clock differs from that of the database by ${Math.round(off / 1000)} s.`
  if (off > day) return [failure(text, fix)]
  return [off > clockToleranceMs ? warning(text, fix) : fine(text)]
}

interface Settings {
  version: number
  encoding: string
  commit: string
  most: number
  standby: boolean
  sync: string
}

/** Settings of PostgreSQL that lose writes or refuse connections. */
export async function checkSettings(database: OpenDatabase): Promise<Finding[]> {
  if (database.dialect === 'sqlite') return [fine('The embedded database needs no settings.')]
  const { rows } = await sql<Settings>`select current_setting('server_version_num')::int as version,
    (select pg_encoding_to_char(encoding) from pg_database where datname = current_database()) as encoding,
    current_setting('synchronous_commit') as commit, current_setting('max_connections')::int as most,
    pg_is_in_recovery() as standby, current_setting('fsync') as sync`.execute(database.db)
  const [found] = rows
  if (!found) return []
  const broken: (Finding | false)[] = [
    found.version < oldestServer &&
      failure('PostgreSQL is older than 14.', 'Upgrade PostgreSQL to 14 or newer.'),
    found.encoding !== 'UTF8' &&
      failure(
        `The encoding is ${found.encoding}.`,
        'Create the database again with ENCODING UTF8, and restore into it.',
      ),
    found.sync === 'off' && failure('fsync is off: a crash loses data.', 'ALTER SYSTEM SET fsync = on;'),
    found.commit === 'off' &&
      failure(
        'synchronous_commit is off: a crash loses acknowledged writes.',
        'ALTER DATABASE … RESET synchronous_commit; ALTER ROLE … RESET synchronous_commit;',
      ),
    found.standby &&
      failure(
        'The server is a standby: it takes no writes.',
        'Set DATABASE_URL to the primary, or promote it.',
      ),
    found.most < 2 * connectionsOfNode &&
      warning(
        `max_connections is ${found.most}; a node uses up to ${connectionsOfNode}.`,
        `ALTER SYSTEM SET max_connections = ${8 * connectionsOfNode}; and restart PostgreSQL.`,
      ),
  ]
  const findings = broken.filter((one) => one !== false)
  return findings.length > 0 ? findings : [fine('The settings of PostgreSQL keep every acknowledged write.')]
}
