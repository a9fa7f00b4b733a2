import { type ChildProcess, execFileSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockDataDir } from '../src/db/sqlite/data-dir.ts'
import { type CommandResult, runKeyward, runKeywardInHost } from './command-line.ts'
import { copyMigratedFile } from './migrated.ts'
import { rounds } from './rounds.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'
import { mountSmallDisk } from './small-disk.ts'

const credentials = { email: 'vendor@example.com', password: 'correct horse' }

let root: string
let dataDir: string
let file: string
/** The data directory of a server with a vendor, to be copied. */
let ofVendor: string
const running: ServerProcess[] = []
beforeAll(async () => {
  ofVendor = mkdtempSync(join(tmpdir(), 'keyward-backup-'))
  dataDir = ofVendor
  await startVendor()
  await stop()
})
afterAll(() => rmSync(ofVendor, { recursive: true, force: true }))
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keyward-backup-'))
  dataDir = join(root, 'data')
  file = join(root, 'backup.tar')
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.end('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

async function start(environment: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startProcess({ DATA_DIR: dataDir, ...environment })
  running.push(server)
  return server
}

async function stop(): Promise<void> {
  for (const server of running.splice(0)) await server.end('SIGTERM')
}

const keyward = (args: string[], environment: Record<string, string> = {}): Promise<CommandResult> =>
  runKeywardInHost(args, { DATA_DIR: dataDir, ...environment })

async function keywardOk(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await keyward(args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** Expects a failure with one line on standard error, and returns it. */
async function refusal(args: string[], environment: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await runKeywardInHost(args, { DATA_DIR: dataDir, ...environment })
  expect([code, stdout, stderr.split('\n').length]).toEqual([1, '', 2])
  return stderr
}

/** The notes of all licenses that a stopped server has, read without one. */
function storedNotes(): string[] {
  const database = new DatabaseSync(join(dataDir, 'keyward.db'))
  const rows = database.prepare('select note from licenses order by seq desc').all()
  database.close()
  return rows.map(({ note }) => String(note))
}

/** Starts a server and creates a vendor with an app and a license. */
async function startVendor() {
  await copyMigratedFile(dataDir)
  const { url } = await start()
  const call = (method: string, path: string, options = {}) => callOver(url, method, path, options)
  const { token } = (await call('POST', '/auth/register', { body: { name: 'V', ...credentials } })).json.data
  const { app } = (await call('POST', '/apps', { token, body: { name: 'Atlas' } })).json.data
  const issue = async (note: string) => {
    const body = { app: app._id, expiresAt: '2999-01-01', note }
    expect((await call('POST', '/licenses', { token, body })).status).toBe(201)
  }
  await issue('before the backup')
  return { app, issue }
}

/** Makes the data directory of a stopped server with a vendor, an app and a license. */
const makeVendor = () => cpSync(ofVendor, dataDir, { recursive: true })

/** Lists the notes of all licenses in the data directory, and checks that search finds them too. */
async function readNotes(environment: Record<string, string> = {}): Promise<string[]> {
  const { url } = await start(environment)
  const { token } = (await callOver(url, 'POST', '/auth/login', { body: credentials })).json.data
  const list = async (query: string) =>
    (await callOver(url, 'GET', `/licenses?${query}`, { token })).json.data.licenses.map(
      (license: { note: string }) => license.note,
    )
  const all = await list('limit=200')
  expect(await list('search=backup')).toEqual(all)
  const { apps } = (await callOver(url, 'GET', '/apps', { token })).json.data
  expect(apps[0].appSecret).toMatch(/\w{20}/)
  await stop()
  return all
}

/** Creates a data directory whose database holds this many megabytes. */
async function filled(megabytes: number): Promise<DatabaseSync> {
  makeVendor()
  const database = new DatabaseSync(join(dataDir, 'keyward.db'), { timeout: 5000 })
  database.exec(`pragma synchronous = off;
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${megabytes * 250})
    insert into meta select 'filler ' || n, hex(randomblob(2000)) from numbers`)
  return database
}

describe('a backup and a restore', () => {
  test('restore the state of the backup and keep the replaced files', async () => {
    const { issue } = await startVendor()
    expect(await keywardOk('backup', file, '--with-key')).toContain(file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await issue('after the backup')
    await stop()
    const [, kept = ''] = /before is in (.+)\n/.exec(await keywardOk('restore', file)) ?? []
    expect(storedNotes()).toEqual(['before the backup'])
    for (const name of readdirSync(kept)) writeFileSync(join(dataDir, name), readFileSync(join(kept, name)))
    expect(await readNotes()).toEqual(['after the backup', 'before the backup'])
  })

  test('move an installation to an empty directory, with the key in the file or already in place', async () => {
    makeVendor()
    await keywardOk('backup', file, '--with-key')
    const withoutKey = join(root, 'withoutKey.tar')
    await keywardOk('backup', withoutKey)
    const key = readFileSync(join(dataDir, 'secret.key'))
    expect(readFileSync(withoutKey).includes(key.toString().trim())).toBe(false)

    dataDir = join(root, 'second')
    expect(await refusal(['restore', withoutKey])).toContain('holds no key')
    expect(existsSync(join(dataDir, 'keyward.db'))).toBe(false)
    await keywardOk('restore', file)
    expect(await readNotes()).toEqual(['before the backup'])

    dataDir = join(root, 'third')
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'secret.key'), key, { mode: 0o600 })
    await keywardOk('restore', withoutKey)
    expect(await readNotes()).toEqual(['before the backup'])

    dataDir = join(root, 'fourth')
    expect(await refusal(['restore', file], { SECRET_KEY: 'x'.repeat(40) })).toContain('SECRET_KEY')
    expect((await keyward(['restore', withoutKey], { SECRET_KEY: key.toString().trim() })).code).toBe(0)
    expect(existsSync(join(dataDir, 'secret.key'))).toBe(false)
  })

  test('restore a plain database copy made before a migration', async () => {
    makeVendor()
    const copy = join(root, 'copy.db')
    const database = new DatabaseSync(join(dataDir, 'keyward.db'))
    database.prepare('vacuum into ?').run(copy)
    database.close()
    expect(await keywardOk('restore', copy)).toContain('no checksum')
    expect(storedNotes()).toEqual(['before the backup'])
  })

  test('create a new file in the data directory by default, and never overwrite one', async () => {
    makeVendor()
    const [path = ''] = (await keywardOk('backup')).split('\n')
    expect(path.startsWith(join(dataDir, 'backups'))).toBe(true)
    const before = readFileSync(path)
    expect(await refusal(['backup', path])).toContain('exists already')
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})

describe('a restore fails with one line and changes nothing', () => {
  async function unchanged(reason: string, args = ['restore', file], environment = {}) {
    const before = readFileSync(join(dataDir, 'keyward.db'))
    expect(await refusal(args, environment)).toContain(reason)
    expect(readFileSync(join(dataDir, 'keyward.db')).equals(before)).toBe(true)
    expect(readdirSync(dataDir).filter((name) => /replaced|partial|unfinished/.test(name))).toEqual([])
  }

  test('while a server is running', async () => {
    makeVendor()
    const release = lockDataDir(dataDir)
    await keywardOk('backup', file)
    await unchanged('Another Keyward server is running')
    release()
  })

  test('for a truncated, modified or missing file', async () => {
    makeVendor()
    await keywardOk('backup', file)
    const whole = readFileSync(file)
    const manifestBytes = Number.parseInt(whole.toString('latin1', 124, 136), 8)
    const second = 512 + Math.ceil(manifestBytes / 512) * 512
    const places = [0, 124, 148, 600, second + 124, second + 600, whole.length >> 1, whole.length - 3000]
    for (const at of places) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0x15
      writeFileSync(file, changed)
      await unchanged('damaged')
    }
    for (const bytes of [0, 100, 512, 4000, whole.length >> 1]) {
      writeFileSync(file, whole)
      truncateSync(file, bytes)
      await unchanged('damaged')
    }
    await unchanged('There is no file', ['restore', join(root, 'missing.tar')])
  })

  test('for a database of a newer version and for a damaged one', async () => {
    const database = await filled(1)
    database.exec("insert into migrations values ('9999-later', 1)")
    await keywardOk('backup', file)
    database.exec("delete from migrations where name = '9999-later'; pragma wal_checkpoint(truncate)")
    database.close()
    await unchanged('newer Keyward')
    // The database is compared too: the manifest of the archive comes from the same hands.
    const newer = join(root, 'newer.db')
    const copy = new DatabaseSync(join(dataDir, 'keyward.db'))
    copy.prepare('vacuum into ?').run(newer)
    copy.close()
    const later = new DatabaseSync(newer)
    later.exec("insert into migrations values ('9999-later', 1)")
    later.close()
    await unchanged('newer Keyward', ['restore', newer])
    const plain = join(root, 'plain.db')
    writeFileSync(plain, readFileSync(join(dataDir, 'keyward.db')))
    const descriptor = openSync(plain, 'r+')
    writeSync(descriptor, Buffer.alloc(8192, 0xff), 0, 8192, 4096 * 20)
    closeSync(descriptor)
    await unchanged('damaged', ['restore', plain])
  })

  test.each([
    [
      'a trigger',
      "create trigger extra after insert on owners begin update owners set name = 'x'; end",
      'the trigger "extra"',
    ],
    [
      'a trigger with the name of one of Keyward',
      "drop trigger apps_added; create trigger apps_added after insert on apps begin update owners set name = 'x'; end",
      'the trigger "apps_added"',
    ],
    ['a view', 'create view extra as select * from owners', 'the view "extra"'],
    ['a table', 'create table extra (id integer)', 'the table "extra"'],
    ['a full-text table', 'create virtual table extra using fts5(a)', 'the table "extra"'],
    ['an index', 'create index extra on owners (name)', 'the index "extra"'],
  ])('for a backup with %s that was planted', async (_what, plant, named) => {
    makeVendor()
    const plain = join(root, 'plain.db')
    const database = new DatabaseSync(join(dataDir, 'keyward.db'))
    database.prepare('vacuum into ?').run(plain)
    database.close()
    const copy = new DatabaseSync(plain)
    copy.exec(plant)
    copy.close()
    await unchanged(`contains ${named}, which Keyward did not make`, ['restore', plain])
  })

  test('for a backup with an object of the operator, which the backup warned about', async () => {
    makeVendor()
    const database = new DatabaseSync(join(dataDir, 'keyward.db'))
    database.exec('create table extra (id integer); pragma wal_checkpoint(truncate)')
    database.close()
    expect(await keywardOk('backup', file)).toContain('a restore refuses it')
    await unchanged('contains the table "extra"')
  })

  test('on PostgreSQL, like a backup', async () => {
    const environment = { DATABASE_URL: 'postgres://127.0.0.1:1/keyward', SECRET_KEY: 'x'.repeat(40) }
    expect(await refusal(['backup', file], environment)).toContain('pg_dump')
    expect(await refusal(['restore', file], environment)).toContain('pg_restore')
  })
})

test('a backup during 200 writes per second is a consistent snapshot', async () => {
  const database = await filled(rounds(20, 300))
  const insert = database.prepare("insert into meta values ('tick ' || ?, ?)")
  let written = 0
  const writing = setInterval(() => {
    written += 1
    insert.run(written, String(written))
  }, 5)
  await expect.poll(() => written).toBeGreaterThan(20)
  const before = written
  await keywardOk('backup', file, '--with-key')
  const after = written
  clearInterval(writing)
  database.close()
  expect(after).toBeGreaterThan(before)

  dataDir = join(root, 'restored')
  await keywardOk('restore', file)
  const restored = new DatabaseSync(join(dataDir, 'keyward.db'))
  const { rows, last } =
    restored
      .prepare(
        "select count(*) as rows, max(cast(value as integer)) as last from meta where name like 'tick %'",
      )
      .get() ?? {}
  restored.close()
  expect(rows).toBe(last)
  expect(Number(rows)).toBeGreaterThanOrEqual(before)
  expect(Number(rows)).toBeLessThanOrEqual(after)
})

test('a backup on a full disk says in one line how much it needs and where, and leaves nothing', async ({
  skip,
}) => {
  const disk = mountSmallDisk(8)
  if (!disk) return skip('mounting a file system is not permitted here')
  try {
    makeVendor()
    disk.fill(3_000_000)
    const needed =
      /^A backup needs \d+\.\d MB in \S+, and [23]\.\d MB are free: free some space, then retry\./
    const target = join(disk.path, 'backup.tar')
    expect(await refusal(['backup', target])).toMatch(needed)
    expect(await refusal(['backup'], { BACKUP_DIR: disk.path })).toMatch(needed)
    expect(readdirSync(disk.path)).toEqual(['filler'])
    disk.empty()
    await keywardOk('backup', target)

    rmSync(target)
    dataDir = join(disk.path, 'data')
    makeVendor()
    disk.fill()
    expect(await refusal(['backup'])).toMatch(/^The database needs 0\.2 MB in \S+data, and 0\.0 MB are free/)
    expect(readdirSync(dataDir)).not.toContain('backups')
    disk.empty()
    expect(storedNotes()).toEqual(['before the backup'])
  } finally {
    disk.unmount()
  }
})

describe('killed midway', () => {
  const kills = rounds(1, 40)

  async function killAfter(ms: number, args: string[]): Promise<void> {
    let child: ChildProcess | undefined
    const ended = runKeyward(args, { DATA_DIR: dataDir }, (started) => {
      child = started
    })
    await wait(ms)
    child?.kill('SIGKILL')
    await ended
  }

  const duration = async (args: string[]) => {
    const begun = performance.now()
    expect((await runKeyward(args, { DATA_DIR: dataDir })).code).toBe(0)
    return performance.now() - begun
  }

  test('a backup leaves no incomplete file under its final name', async () => {
    ;(await filled(10)).close()
    const ms = await duration(['backup', file])
    for (let round = 0; round < kills; round += 1) {
      rmSync(file, { force: true })
      await killAfter((ms * (round + 1)) / (kills + 1), ['backup', file])
      if (!existsSync(file)) continue
      dataDir = join(root, `restored-${round}`)
      mkdirSync(dataDir)
      writeFileSync(join(dataDir, 'secret.key'), readFileSync(join(root, 'data', 'secret.key')))
      await keywardOk('restore', file)
      dataDir = join(root, 'data')
    }
  })

  test('a restore leaves the old state, the new one, or a server that does not start until it is repeated', async () => {
    ;(await filled(10)).close()
    await keywardOk('backup', file)
    const ms = await duration(['restore', file])
    for (let round = 0; round < kills; round += 1) {
      await killAfter((ms * (round + 1)) / (kills + 1), ['restore', file])
      if (existsSync(join(dataDir, 'restore.unfinished'))) await keywardOk('restore', file)
      await start()
      await stop()
      const database = new DatabaseSync(join(dataDir, 'keyward.db'))
      expect(database.prepare("select count(*) as n from meta where name like 'filler %'").get()).toEqual({
        n: 2500,
      })
      database.close()
    }
    await keywardOk('restore', file)
    expect(readdirSync(dataDir).filter((name) => name.includes('partial'))).toEqual([])
  })
})

describe('a restore that could not finish', () => {
  /** The files that a restore creates or moves. */
  const files = () =>
    readdirSync(dataDir).filter((name) => /^(keyward.db|secret.key)$|replaced|unfinish/.test(name))

  test('is undone by the next one, which keeps the previous files in one directory', async () => {
    const { issue } = await startVendor()
    await keywardOk('backup', file)
    await issue('in the write-ahead log of a backup')
    for (const server of running.splice(0)) await server.end('SIGKILL')
    const leftover = join(dataDir, 'replaced-before')
    mkdirSync(leftover)
    renameSync(join(dataDir, 'keyward.db'), join(leftover, 'keyward.db'))
    writeFileSync(join(dataDir, 'restore.unfinished'), `${leftover}\n`)
    const [, kept = ''] = /before is in (.+)\n/.exec(await keywardOk('restore', file)) ?? []
    expect(files()).toEqual(['keyward.db', basename(kept), 'secret.key'])
    expect(storedNotes()).toEqual(['before the backup'])
    for (const name of readdirSync(kept)) writeFileSync(join(dataDir, name), readFileSync(join(kept, name)))
    expect(storedNotes()).toEqual(['in the write-ahead log of a backup', 'before the backup'])
  })

  test('for lack of space changes nothing', async ({ skip }) => {
    const disk = mountSmallDisk(8)
    if (!disk) return skip('mounting a file system is not permitted here')
    try {
      dataDir = join(disk.path, 'data')
      makeVendor()
      await keywardOk('backup', file)
      const sizes = execFileSync('tar', ['-tvf', file], { encoding: 'utf8' })
      const [, databaseBytes = ''] = /(\d+) \S+ \S+ keyward\.db/.exec(sizes) ?? []
      disk.fill()
      const filler = join(disk.path, 'filler')
      truncateSync(filler, statSync(filler).size - Number(databaseBytes))
      expect(await refusal(['restore', file])).toMatch(
        /^A restore needs \d+\.\d MB in \S+, and \d+\.\d MB are free: /,
      )
      expect(files()).toEqual(['keyward.db', 'secret.key'])
      disk.empty()
      expect(storedNotes()).toEqual(['before the backup'])
    } finally {
      disk.unmount()
    }
  })

  test('after a failed move keeps the key of the current database', async ({ skip }) => {
    makeVendor()
    await keywardOk('backup', file, '--with-key')
    dataDir = join(root, 'second')
    await copyMigratedFile(dataDir)
    const key = Buffer.from('the key of another installation')
    writeFileSync(join(dataDir, 'secret.key'), key)
    const database = join(dataDir, 'keyward.db')
    try {
      execFileSync('mount', ['--bind', database, database], { stdio: 'ignore' })
    } catch {
      return skip('a file cannot be mounted here')
    }
    try {
      expect(await refusal(['restore', file])).toContain('nothing was changed')
    } finally {
      execFileSync('umount', [database])
    }
    expect(readFileSync(join(dataDir, 'secret.key')).equals(key)).toBe(true)
    expect(files()).toEqual(['keyward.db', 'secret.key'])
  })
})
