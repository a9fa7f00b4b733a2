import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { day } from '../src/core/clock.ts'
import { type Migration, migrate, SchemaTooNewError } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { prepare } from '../src/db/prepare.ts'
import { SecretKeyError } from '../src/db/secret-key.ts'
import { transact } from '../src/db/transact.ts'
import { copyMigratedFile } from './migrated.ts'
import { insertOwners } from './owner-rows.ts'
import { someOf } from './rounds.ts'

let dataDir: string
const opened: OpenDatabase[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-database-'))
})
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

function open(): OpenDatabase & { dialect: 'sqlite' } {
  const database = openDatabase({ url: undefined, dataDir })
  opened.push(database)
  if (database.dialect !== 'sqlite') throw new Error('expected an embedded database')
  return database
}

async function start(environment: Record<string, string> = {}) {
  const prepared = await prepare(readConfig({ DATA_DIR: dataDir, ...environment }))
  opened.push(prepared.database)
  return prepared
}

/** In a database of any version. */
async function addOwner({ db }: OpenDatabase, id: string): Promise<void> {
  const email = `${id}@example.com`
  const { rows } = await sql`select 1 from sqlite_master where name = 'accounts'`.execute(db)
  await transact(db, async (tx) => {
    if (rows.length > 0) return insertOwners(tx, [{ id, name: 'Ada', email, created_at: 1 }])
    await sql`insert into owners (id, name, email, email_normalized, password_hash, created_at)
      values (${id}, 'Ada', ${email}, ${email}, 'x', 1)`.execute(tx)
  })
}

describe('the embedded database', () => {
  beforeEach(() => copyMigratedFile(dataDir))

  test('keeps the write-ahead log and foreign keys on after a write, and leaves the sync of commits to CommitGroups', async () => {
    const { database } = await start()
    await addOwner(database, 'own_1')
    if (database.dialect !== 'sqlite') throw new Error('expected an embedded database')
    const { writer } = database.handles
    const pragma = (name: string) => Object.values(writer.database.prepare(`pragma ${name}`).get() ?? {})[0]
    expect(pragma('synchronous')).toBe(1)
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('foreign_keys')).toBe(1)
  })

  test('shows uncommitted rows to no reader', async () => {
    const { database } = await start()
    if (database.dialect !== 'sqlite') throw new Error('expected an embedded database')
    const { reader } = database.handles
    const count = () => reader.prepare('select count(*) as n from owners').get()?.n
    const seen: unknown[] = []
    await transact(database.db, async (tx) => {
      await insertOwners(tx, [{ id: 'own_1', name: 'A', email: 'a', created_at: 1 }])
      seen.push(count())
    })
    expect([...seen, count()]).toEqual([0, 1])
    expect(() => reader.prepare('delete from owners').run()).toThrow()
  })

  test('rolls back a failed transaction and continues', async () => {
    const { database } = await start()
    await expect(
      transact(database.db, async (tx) => {
        await sql`delete from meta`.execute(tx)
        throw new Error('midway')
      }),
    ).rejects.toThrow('midway')
    expect(await database.db.selectFrom('meta').selectAll().execute()).toHaveLength(1)
    await addOwner(database, 'own_1')
  })
})

describe('a migration', () => {
  const extra: Migration = {
    name: '9999-extra',
    statements: () => ['create table extra (id text primary key)'],
  }

  test('limits sessions of an earlier version to 90 days', async () => {
    const database = open()
    const before = migrations.findIndex((migration) => migration.name === '0009-limits')
    await migrate(database, migrations.slice(0, before), { now: 1 })
    await addOwner(database, 'own_1')
    const session = (id: string, expires_at: number) => ({
      id,
      owner_id: 'own_1',
      token_hash: id,
      created_at: 0,
      expires_at,
    })
    const [short, long] = [30 * day, 200 * day]
    await database.db
      .insertInto('owner_sessions')
      .values([session('long', long), session('short', short)] as never)
      .execute()
    await migrate(database, migrations, { now: 2 })
    const ends = await database.db.selectFrom('owner_sessions').select('expires_at').orderBy('id').execute()
    expect(ends.map((row) => row.expires_at)).toEqual([90 * day, short])
  })

  test('lets older keys that read the same match exactly only, and estimates what added keys gave', async () => {
    const database = open()
    const before = migrations.findIndex((migration) => migration.name === '0017-added-time')
    await migrate(database, migrations.slice(0, before), { now: 1 })
    await addOwner(database, 'own_1')
    const run = (statement: string) => sql.raw(statement).execute(database.db)
    await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at) values ('app_1', 'own_1', 'A', 'A', '', '', '', '', '', '1.0.0', 1)`)
    await run(`insert into clients (id, owner_id, app_id, license_id, username, username_normalized, expires_at,
      created_at) values ('usr_1', 'own_1', 'app_1', 'SOLAR', 'a', 'a', 9, 1)`)
    for (const [key, used, end] of [
      ['SOLAR', 1, 9],
      ['S0LAR', 0, 9],
      ['TIGER', 1, 7],
      ['T1GAR', 1, 2],
    ]) {
      await run(`insert into licenses (id, owner_id, app_id, key, key_normalized, used, used_at, client_id, expires_at,
        created_at) values ('${key}', 'own_1', 'app_1', '${key}', '${key}', ${used}, ${used ? 3 : null},
        ${used ? "'usr_1'" : null}, ${end}, 1)`)
    }
    await migrate(database, migrations, { now: 2 })
    const rows = await database.db.selectFrom('licenses').select(['id', 'key_twin']).orderBy('seq').execute()
    expect(rows.map((row) => [row.id, row.key_twin])).toEqual([
      ['SOLAR', 1],
      ['S0LAR', 1],
      ['TIGER', 0],
      ['T1GAR', 0],
    ])
    const grants = await database.db
      .selectFrom('grants')
      .select(['license_id', 'kind', 'until', 'moved_ms', 'source_id'])
      .orderBy('seq')
      .execute()
    expect(grants.map((row) => Object.values(row))).toEqual([
      ['SOLAR', 'term', 5, null, 'SOLAR'],
      ['SOLAR', 'time', null, 4, 'TIGER'],
      ['SOLAR', 'time', null, 0, 'T1GAR'],
    ])
  })

  test('turns bound hardware ids into devices', async () => {
    const database = open()
    const before = migrations.findIndex((migration) => migration.name === '0015-devices')
    await migrate(database, migrations.slice(0, before), { now: 1 })
    await addOwner(database, 'own_1')
    const insert = (text: string) => sql.raw(text).execute(database.db)
    await insert(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid,
      signing_public, signing_sealed, version, created_at)
      values ('app_1', 'own_1', 'A', 'A', '', '', '', '', '', '1.0.0', 1)`)
    await insert(`insert into clients (id, owner_id, app_id, username, username_normalized, hwid, hwid_hash,
      expires_at, last_login_at, created_at)
      values ('usr_1', 'own_1', 'app_1', 'a', 'a', 'pc-1', 'hash-1', 9, 5, 2),
        ('usr_2', 'own_1', 'app_1', 'b', 'b', null, null, 9, null, 3)`)
    await migrate(database, migrations, { now: 2 })
    const devices = await database.db
      .selectFrom('devices')
      .select(['id', 'client_id', 'hwid', 'hwid_hash', 'first_seen_at', 'last_seen_at'])
      .execute()
    expect(devices.map((row) => Object.values(row))).toEqual([['dev_1', 'usr_1', 'pc-1', 'hash-1', 2, 5]])
    const counts = await database.db.selectFrom('clients').select('device_count as n').orderBy('id').execute()
    expect(counts.map((row) => row.n)).toEqual([1, 0])
  })

  test('runs once, in order', async () => {
    const database = open()
    const names = migrations.map((migration) => migration.name)
    expect(names).toEqual([...names].sort())
    expect(await migrate(database, migrations, { now: 1 })).toEqual(names)
    expect(await migrate(database, migrations, { now: 2 })).toEqual([])
    expect(await migrate(database, [...migrations, extra], { now: 3 })).toEqual(['9999-extra'])
  })

  test.each(
    someOf(
      migrations.map((_, at) => at + 1),
      24,
    ),
  )('upgrades a database after %i migrations and keeps its data', async (steps) => {
    const database = open()
    await migrate(database, migrations.slice(0, steps), { now: 1 })
    await addOwner(database, 'own_1')
    await migrate(database, migrations, { now: 2 })
    expect(await database.db.selectFrom('owners').select('id').execute()).toEqual([{ id: 'own_1' }])
  })

  test('that fails leaves nothing behind', async () => {
    const database = open()
    await migrate(database, migrations, { now: 1 })
    const broken: Migration = {
      name: '9999-broken',
      statements: () => [...extra.statements('sqlite'), 'nonsense'],
    }
    await expect(migrate(database, [...migrations, broken], { now: 2 })).rejects.toThrow()
    expect(await migrate(database, [...migrations, extra], { now: 3 })).toEqual(['9999-extra'])
  })

  test('rejects a database that a newer version migrated', async () => {
    const database = open()
    await migrate(database, [...migrations, extra], { now: 1 })
    await expect(migrate(database, migrations, { now: 2 })).rejects.toThrow(SchemaTooNewError)
  })

  test('requests a backup only if the database holds data', async () => {
    const database = open()
    let backups = 0
    const backUp = () => {
      backups += 1
    }
    const options = { now: 1, backUp }
    await migrate(database, migrations, options)
    await migrate(database, migrations, options)
    expect(backups).toBe(0)
    await migrate(database, [...migrations, extra], options)
    expect(backups).toBe(1)
  })

  test('at startup first copies the older database', async () => {
    const older = open()
    await migrate(older, migrations.slice(0, 1), { now: 1 })
    await addOwner(older, 'own_1')
    await opened.pop()?.close()
    await start()
    const backups = join(dataDir, 'backups')
    expect(existsSync(backups)).toBe(migrations.length > 1)
    if (!existsSync(backups)) return
    const [file = ''] = readdirSync(backups)
    const copy = mkdtempSync(join(tmpdir(), 'keyward-backup-'))
    writeFileSync(join(copy, 'keyward.db'), readFileSync(join(backups, file)))
    const restored = openDatabase({ url: undefined, dataDir: copy })
    expect(await restored.db.selectFrom('owners').select('id').execute()).toEqual([{ id: 'own_1' }])
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(restored.db)
    expect(rows).toEqual([{ name: migrations[0]?.name }])
    await restored.close()
    rmSync(copy, { recursive: true })
  })
})

test('the embedded database is readable only by its account, even in a shared directory', async () => {
  chmodSync(dataDir, 0o755)
  await start()
  const open = readdirSync(dataDir).filter((name) => statSync(join(dataDir, name)).mode & 0o077)
  expect(open).toEqual([])
})

describe('the secret key', () => {
  beforeEach(() => copyMigratedFile(dataDir))

  const keyFile = () => join(dataDir, 'secret.key')
  const restart = async (environment: Record<string, string> = {}) => {
    await opened.pop()?.close()
    return start(environment)
  }

  test('is created at the first start, readable only by its account, and reused', async () => {
    const { seal } = await start()
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600)
    expect(statSync(dataDir).mode & 0o077).toBe(0)
    const sealed = seal.seal('text', 'here')
    expect((await restart()).seal.open(sealed, 'here')).toBe('text')
  })

  test('is rejected if it differs or is missing', async () => {
    await start()
    await expect(restart({ SECRET_KEY: 'another key with more than 32 characters' })).rejects.toThrow(
      SecretKeyError,
    )
    rmSync(keyFile())
    await expect(restart()).rejects.toThrow(SecretKeyError)
    expect(existsSync(keyFile())).toBe(false)
  })

  test('is rejected if its file is empty, with or without encrypted rows', async () => {
    writeFileSync(keyFile(), '\n')
    await expect(start()).rejects.toThrow(SecretKeyError)
    rmSync(keyFile())
    await start()
    writeFileSync(keyFile(), '')
    await expect(restart()).rejects.toThrow(SecretKeyError)
  })

  test('from the environment is never written to disk', async () => {
    const SECRET_KEY = 'the key of an operator, 32 and more characters'
    const { database } = await start({ SECRET_KEY })
    expect(existsSync(keyFile())).toBe(false)
    const meta = await database.db.selectFrom('meta').selectAll().execute()
    expect(JSON.stringify(meta)).not.toContain(SECRET_KEY)
  })
})
