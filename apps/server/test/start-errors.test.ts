import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { OperatorError } from '../src/core/operator-error.ts'
import { databaseFault } from '../src/db/faults.ts'
import { prepare } from '../src/db/prepare.ts'
import { eventually } from './eventually.ts'
import { type Cluster, startCluster } from './postgres-cluster.ts'
import { isFull } from './rounds.ts'
import { quickest, startProcess } from './server-process.ts'
import { mountSmallDisk } from './small-disk.ts'

const secretKey = 'a secret key with more than 32 characters'
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-start-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the server with an environment that prevents its start; returns exit code and standard error. */
function failedStart(environment: Record<string, string>): Promise<{ code: number | null; error: string }> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [quickest], {
    env: { PATH, HOME, PORT: '0', LOG_LEVEL: 'fatal', DATA_DIR: join(folder, 'data'), ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let error = ''
  child.stderr.on('data', (data: Buffer) => {
    error += data
  })
  const timeout = setTimeout(() => child.kill('SIGKILL'), 110_000)
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearTimeout(timeout)
      resolve({ code, error: error.trimEnd() })
    }),
  )
}

async function expectLine(environment: Record<string, string>, line: RegExp) {
  const { code, error } = await failedStart(environment)
  expect(error).toMatch(line)
  expect(error.split('\n')).toHaveLength(1)
  expect(code).toBe(1)
}

/** Expects this line for a database that cannot be opened; starts a process for it in the full run alone. */
async function expectRefusal(environment: Record<string, string>, line: RegExp) {
  if (isFull) return expectLine(environment, line)
  const config = readConfig({ DATA_DIR: join(folder, 'data'), ...environment })
  const error = await prepare(config).catch((error: unknown) => databaseFault(error, config) ?? error)
  expect(error).toBeInstanceOf(OperatorError)
  expect(error).toMatchObject({ message: expect.stringMatching(line) })
  expect(error).toMatchObject({ message: expect.not.stringContaining('\n') })
}

describe('a failed start prints the reason in one line and exits with 1', () => {
  test.each([
    ['an address of another machine', { HOST: '192.0.2.1' }, /^HOST 192\.0\.2\.1 is not an address of this/],
    ['an unknown name', { HOST: 'no-such-host.invalid' }, /^HOST no-such-host\.invalid cannot be resolved/],
    [
      'a directory that cannot be created',
      { DATA_DIR: '/dev/null/keyward' },
      /^DATA_DIR \/dev\/null\/keyward /,
    ],
  ])('for %s', (_what, environment, line) => expectLine(environment as Record<string, string>, line))

  test('for each mistake in the configuration', async () => {
    const { code, error } = await failedStart({ LOG_LEVEL: 'loud', PORT: '0x1f', RATE_LIMIT: 'off' })
    expect([code, error.split('\n').sort()]).toEqual([
      1,
      [
        expect.stringMatching(/^Configuration: LOG_LEVEL: must be fatal, /),
        'Configuration: PORT: must be a port number',
        expect.stringMatching(/^Configuration: RATE_LIMIT: .*did you mean RATE_LIMITS/),
      ],
    ])
  })

  test('for a port in use', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    )
    await expectLine({ PORT: String(port) }, new RegExp(`^Port ${port} is taken`))
    other.close()
  })

  test.skipIf(process.platform !== 'linux')('for a directory without write permission', () =>
    expectRefusal({ DATA_DIR: '/sys/keyward' }, /^Not allowed to use \/sys\/keyward/),
  )

  test('for a DATA_DIR that is a file', async () => {
    const path = join(folder, 'file')
    writeFileSync(path, 'text')
    await expectRefusal({ DATA_DIR: path }, /^DATA_DIR \S+ is not a directory\.$/)
  })

  test('for a database path that is a directory', async () => {
    mkdirSync(join(folder, 'odd', 'keyward.db'), { recursive: true })
    await expectRefusal(
      { DATA_DIR: join(folder, 'odd') },
      /keyward\.db is a directory, but must be a file\.$/,
    )
  })

  test.each([
    ['a directory', (path: string) => mkdirSync(path), /server\.lock is a directory, but must be a file\.$/],
    [
      'damaged',
      (path: string) => writeFileSync(path, 'This is not a lock. '.repeat(50)),
      /server\.lock is damaged: delete it while no Keyward server is running on \S+$/,
    ],
  ])('for a lock file that is %s', async (what, make, line) => {
    const dataDir = join(folder, `lock-${what.replaceAll(' ', '-')}`)
    mkdirSync(dataDir)
    make(join(dataDir, 'server.lock'))
    await expectRefusal({ DATA_DIR: dataDir }, line)
  })

  test('for a lock file on a read-only disk', async () => {
    const disk = mountSmallDisk(16)
    if (!disk) return
    try {
      writeFileSync(join(disk.path, 'server.lock'), '')
      execFileSync('mount', ['-o', 'remount,ro', disk.path])
      await expectRefusal({ DATA_DIR: disk.path }, /^Not allowed to use \S+server\.lock\. DATA_DIR must be a/)
    } finally {
      disk.unmount()
    }
  })

  test('for a full disk, with what it needs, and leaves nothing; with space it starts', async ({ skip }) => {
    const disk = mountSmallDisk(16)
    if (!disk) return skip('mounting a file system is not permitted here')
    const dataDir = join(disk.path, 'data')
    const startAndStop = async () => (await startProcess({ DATA_DIR: dataDir })).end('SIGTERM')
    try {
      disk.fill(1_000_000)
      await expectLine(
        { DATA_DIR: dataDir },
        /^A new database needs 8\.0 MB in \S+data, and [01]\.\d MB are free: free some space, then retry\./,
      )
      expect(existsSync(dataDir)).toBe(false)
      disk.empty()
      expect(await startAndStop()).toBe(0)
      const files = readdirSync(dataDir)
      disk.fill()
      await expectLine(
        { DATA_DIR: dataDir },
        /^The database needs 0\.2 MB in \S+data, and 0\.0 MB are free: free/,
      )
      expect(readdirSync(dataDir)).toEqual(files)
      disk.empty()
      expect(await startAndStop()).toBe(0)
    } finally {
      disk.unmount()
    }
  })

  test('for scheduled backups of PostgreSQL, which has base backups', () =>
    expectLine(
      { DATABASE_URL: 'postgres://u@127.0.0.1:9/keyward', SECRET_KEY: secretKey, BACKUP_EVERY: '24' },
      /^Configuration: BACKUP_EVERY: is for the embedded database; docs\/operations\.md shows base backups/,
    ))

  test.each([
    ['text', 'This is not a database. '.repeat(500)],
    ['a valid header followed by garbage', `SQLite format 3\0${'\u0007'.repeat(8192)}`],
  ])('for a damaged database: %s', async (what, content) => {
    const dataDir = join(folder, what.replaceAll(' ', '-'))
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'keyward.db'), content)
    await expectRefusal(
      { DATA_DIR: dataDir },
      /^The database in \S+ is damaged\. Nothing was changed: restore/,
    )
  })

  test('for an unreachable PostgreSQL', () =>
    expectLine(
      { DATABASE_URL: 'postgres://u@127.0.0.1:9/keyward', SECRET_KEY: secretKey },
      /^The database of DATABASE_URL cannot be reached\.$/,
    ))

  test('for an unknown PostgreSQL host', () =>
    expectRefusal(
      { DATABASE_URL: 'postgres://u@no-such-host.invalid/keyward', SECRET_KEY: secretKey },
      /^The database of DATABASE_URL cannot be reached\.$/,
    ))

  test('for a certificate file that is missing', () =>
    expectRefusal(
      {
        DATABASE_URL: 'postgres://u@127.0.0.1:9/keyward?sslrootcert=/missing/root.pem',
        SECRET_KEY: secretKey,
      },
      /^DATABASE_URL names \/missing\/root\.pem, which cannot be read\.$/,
    ))
})

describe('a failed start on PostgreSQL prints the reason in one line and exits with 1', () => {
  let cluster: Cluster
  let admin: pg.Client
  const [database, reader, guarded] = ['keyward_start', 'keyward_start_reader', 'keyward_start_guarded']
  const encoded = ['SQL_ASCII', 'LATIN1']
  beforeAll(async () => {
    cluster = await startCluster()
    admin = new pg.Client({ connectionString: cluster.url })
    await admin.connect()
    await dropAll()
    await admin.query(`create role ${reader} login password 'right'`)
    await admin.query(`create role ${guarded} login password 'right'`)
    await admin.query(`create database ${database}`)
    await admin.query(`revoke all on database ${database} from public`)
    await admin.query(`grant connect on database ${database} to ${reader}`)
    const { rows } = await admin.query('select pg_read_file(current_setting($1)) as rules', ['hba_file'])
    await writeRules(`host all ${guarded} all scram-sha-256\n${rows[0].rules}`)
    // PostgreSQL reads the rules some time after it was asked to.
    await eventually(async () => expect(await refuses(guarded)).toBe(true))
  })
  afterAll(async () => {
    const { rows } = await admin.query('select pg_read_file(current_setting($1)) as rules', ['hba_file'])
    await writeRules(rows[0].rules.replace(/^.*\n/, ''))
    await dropAll()
    await admin.end()
    await cluster.stop()
  })

  async function dropAll() {
    for (const name of [database, ...encoded.map((encoding) => `keyward_start_${encoding}`)])
      await admin.query(`drop database if exists ${name}`)
    for (const role of [reader, guarded]) await admin.query(`drop role if exists ${role}`)
  }

  async function refuses(user: string): Promise<boolean> {
    const connectionString = Object.assign(new URL(cluster.url), { username: user, password: 'wrong' }).href
    const client = new pg.Client({ connectionString })
    return client.connect().then(
      () => client.end().then(() => false),
      () => true,
    )
  }

  async function writeRules(rules: string) {
    const { rows } = await admin.query("select current_setting('hba_file') as path")
    const lines = rules.trimEnd().split('\n')
    const values = lines.map((line) => admin.escapeLiteral(line)).join(', ')
    await admin.query(
      `copy (select unnest(array[${values}])) to ${admin.escapeLiteral(rows[0].path)} with (delimiter E'\\x01')`,
    )
    await admin.query('select pg_reload_conf()')
  }

  function at(user: string, password: string, path: string) {
    const url = new URL(cluster.url)
    Object.assign(url, { username: user, password, pathname: path })
    return { DATABASE_URL: url.href, SECRET_KEY: secretKey }
  }

  test('for a wrong password', () =>
    expectRefusal(
      at(guarded, 'wrong', 'postgres'),
      /^The database of DATABASE_URL refuses the user or the pass/,
    ))

  // In this process the driver would keep the connection, and PostgreSQL waits a minute for its password.
  test('for no password', () =>
    expectLine(at(guarded, '', 'postgres'), /^The database of DATABASE_URL refuses the user or the password/))

  test('for an unknown user', () =>
    expectRefusal(
      at('keyward_start_nobody', '', 'postgres'),
      /^The database of DATABASE_URL refuses the user/,
    ))

  test('for a missing database', () =>
    expectRefusal(at(reader, 'right', 'keyward_missing'), /^The database of DATABASE_URL does not exist/))

  test('for a parameter that PostgreSQL refuses', () =>
    expectRefusal(
      { DATABASE_URL: `${cluster.url}?statement_timeout=soon`, SECRET_KEY: secretKey },
      /^The database of DATABASE_URL cannot be used\. \(invalid value for parameter "statement_timeout"/,
    ))

  test.each(encoded)('for a new database in %s', async (encoding) => {
    const name = `keyward_start_${encoding}`.toLowerCase()
    await admin.query(`create database ${name} template template0 encoding '${encoding}' locale 'C'`)
    const DATABASE_URL = Object.assign(new URL(cluster.url), { pathname: name }).href
    await expectRefusal(
      { DATABASE_URL, SECRET_KEY: secretKey },
      new RegExp(
        `^The database of DATABASE_URL is encoded as ${encoding}: create one with the encoding UTF8`,
      ),
    )
  })

  test('for missing privileges', () =>
    expectRefusal(
      at(reader, 'right', database),
      /^The database of DATABASE_URL does not give this user the ri/,
    ))
})
