import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { day, hour } from '../src/core/clock.ts'
import { storageFailureOf } from '../src/db/failure.ts'
import { toStamp } from '../src/db/files.ts'
import { putMeta } from '../src/db/meta.ts'
import { readBackupState } from '../src/modules/system/backup-state.ts'
import type { BackupOptions } from '../src/modules/system/scheduled-backups.ts'
import { makeApp, makeLicenses, makePremium, signUp, trustMails } from './actors.ts'
import { runKeywardInHost } from './command-line.ts'
import { startServer, TestClock, type TestServer } from './harness.ts'
import { isFull, rounds } from './rounds.ts'
import { quickestOf, startProcess } from './server-process.ts'
import { mountSmallDisk } from './small-disk.ts'
import { SmtpSink } from './smtp-sink.ts'

const often: BackupOptions = {
  firstMs: 1,
  pollMs: 20,
  program: pathToFileURL(quickestOf('src/db/sqlite/backup/backup-process.ts')),
}
const secretKey = 'a secret key that only tests use, 32+ characters'
const address = 'operator@example.com'

let root: string
let on: TestServer | undefined
let sink: SmtpSink | undefined
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keyward-scheduled-'))
  mkdirSync(join(root, 'backups'))
})
afterEach(async () => {
  await on?.close()
  await sink?.stop()
  on = undefined
  sink = undefined
  rmSync(root, { recursive: true, force: true })
})

const environment = (more: Record<string, string> = {}) => ({
  ...{ DATA_DIR: join(root, 'data'), BACKUP_DIR: join(root, 'backups'), SECRET_KEY: secretKey },
  ...{ BACKUP_EVERY: '24', BACKUP_KEEP: '3', ...more },
})

async function start(more: Record<string, string> = {}, options: Parameters<typeof startServer>[1] = {}) {
  on = await startServer(environment(more), { backupOptions: often, ...options })
  return on
}

/** Ends the server and keeps its files. */
async function stop(server: TestServer) {
  await server.server.close()
  await server.database.close()
  on = undefined
}

const files = () => readdirSync(join(root, 'backups')).sort()
/** The numbers of those that servers here made. */
const numbers = () =>
  readdirSync(join(root, 'backups'), { withFileTypes: true })
    .flatMap((entry) => {
      const number = /^keyward-scheduled-(?!00000000)[0-9a-f]{8}-(\d{6})-.*Z\.tar$/.exec(entry.name)?.[1]
      return entry.isFile() && number !== undefined ? [number] : []
    })
    .sort()
const untilNumbers = (...expected: number[]) =>
  expect.poll(numbers).toEqual(expected.map((number) => String(number).padStart(6, '0')))
const unfinished = () => files().filter((name) => name.includes('partial'))
const newest = () => join(root, 'backups', files().findLast((name) => /scheduled/.test(name)) ?? '')

const stateOf = ({ database }: TestServer) => readBackupState(database.db)
const isFailing = async (server: TestServer) => ((await stateOf(server))?.failure ?? null) !== null

const run = (args: string[], more: Record<string, string> = {}) => runKeywardInHost(args, environment(more))

async function doctor(more: Record<string, string> = {}) {
  const { findings } = JSON.parse((await run(['doctor', '--json'], more)).stdout)
  return findings.filter(({ check }: { check: string }) => check === 'backups')
}

describe('scheduled backups', () => {
  test('are made so often, keep the newest verified ones, and delete nothing else', async () => {
    const others = [
      'keyward-2020-01-01T00-00-00-000Z.tar',
      'keyward-scheduled-00000000-000001-2020-01-01T00-00-00-000Z.tar',
      'note.txt',
    ]
    for (const name of others) writeFileSync(join(root, 'backups', name), 'mine')
    const server = await start({ BACKUP_KEEP: '2' })
    for (let number = 1; number <= 3; number += 1) {
      await untilNumbers(...[number - 1, number].filter((each) => each > 0))
      if (number === 2) {
        const { id = '' } = (await stateOf(server)) ?? {}
        const name = `keyward-scheduled-${id.slice(0, 8)}-000000-2020-01-01T00-00-00-000Z.tar`
        others.push(name)
        symlinkSync('note.txt', join(root, 'backups', name))
      }
      if (number < 3) server.clock.advance(day)
    }
    expect(files()).toEqual(expect.arrayContaining(others.slice(0, 3)))
    expect(existsSync(join(root, 'backups', others[3] ?? ''))).toBe(true)
    expect(unfinished()).toEqual([])
  })

  test('begin after a restart only when the last one is old enough, and are restored as they were', async () => {
    const first = await start()
    const owner = await signUp(first)
    const app = await makeApp(owner)
    await makeLicenses(first, owner, app, 3)
    await untilNumbers(1)
    await stop(first)
    const later = new TestClock()
    later.advance(day - hour)
    const second = await start({}, { clock: later })
    await expect.poll(() => stateOf(second)).toBeDefined()
    later.advance(hour)
    await untilNumbers(1, 2)
    expect(newest()).toContain(toStamp(later.now()))

    const DATA_DIR = join(root, 'restored')
    expect(await run(['restore', newest()], { DATA_DIR })).toMatchObject({ code: 0, stderr: '' })
    const restored = new DatabaseSync(join(DATA_DIR, 'keyward.db'), { readOnly: true })
    expect(restored.prepare('select count(*) as n from licenses').get()).toEqual({ n: 3 })
    restored.close()
  })

  test.skipIf(!isFull)('lose none to a clock that jumps ahead and back', async () => {
    const { clock } = await start({ BACKUP_KEEP: '2' })
    await untilNumbers(1)
    clock.advance(400 * day)
    await untilNumbers(1, 2)
    clock.advance(-400 * day)
    await untilNumbers(2, 3)
    clock.advance(day)
    await untilNumbers(3, 4)
  })

  test.skipIf(!isFull)('while writes go on, are a consistent state and stop no call', async () => {
    const server = await start()
    await untilNumbers(1)
    const owner = await signUp(server)
    await makePremium(server, owner)
    const app = await makeApp(owner)
    fill(server, 20)
    const before = 20
    await makeLicenses(server, owner, app, before)
    server.clock.advance(day)
    let [written, during] = [before, 0]
    while (numbers().length < 2) {
      await makeLicenses(server, owner, app, 2)
      written += 2
      if (unfinished().length > 0) during += 1
      expect((await server.call('GET', '/ready')).status).toBe(200)
    }
    expect(during).toBeGreaterThan(0)
    const DATA_DIR = join(root, 'restored')
    expect(await run(['restore', newest()], { DATA_DIR })).toMatchObject({ code: 0, stderr: '' })
    const restored = new DatabaseSync(join(DATA_DIR, 'keyward.db'), { readOnly: true })
    const rows = Number(restored.prepare('select count(*) as n from licenses').get()?.n)
    restored.close()
    expect(rows % 2).toBe(0)
    expect(rows).toBeGreaterThanOrEqual(before)
    expect(rows).toBeLessThanOrEqual(written)
  })
})

/** Adds so many megabytes to the database. */
function fill({ database }: TestServer, megabytes: number): void {
  if (database.dialect !== 'sqlite') return
  database.handles.writer.database.exec(`with recursive numbers (n) as
    (select 1 union all select n + 1 from numbers where n < ${megabytes * 250})
    insert into meta select 'filler ' || n, hex(randomblob(2000)) from numbers`)
}

describe('a scheduled backup that fails', () => {
  const broken = { ...often, program: pathToFileURL(quickestOf('test/broken-backup.ts')) }

  async function startMailed() {
    sink = await SmtpSink.start()
    const mail = { SMTP_URL: `smtp://${sink.host}`, MAIL_FROM: 'k@example.com', BACKUP_MAIL: address }
    return { server: await start(mail, { backupOptions: broken }), mail, sink }
  }

  const subjects = () => (sink?.received ?? []).map(({ head }) => /Subject: (.*)/.exec(head)?.[1])
  const failed = expect.stringMatching(/^Keyward: a backup of \S+ failed$/)
  const works = expect.stringMatching(/^Keyward: backups of \S+ work again$/)
  const metric = async ({ server }: TestServer, name: string) =>
    (await server.inject('/metrics')).body.split('\n').find((line) => line.startsWith(`${name} `))

  test('because its copy is damaged keeps the older ones, and is mailed once a day until it works again', async () => {
    const { server, mail } = await startMailed()
    await untilNumbers(1)
    const good = basename(newest())
    writeFileSync(join(root, 'break'), '')
    server.clock.advance(day)
    await expect.poll(subjects).toEqual([failed])
    expect(sink?.received[0]).toMatchObject({ to: [address], body: expect.stringContaining('checksum') })
    await expect.poll(files).toEqual([good])
    expect(await doctor(mail)).toEqual([
      {
        check: 'backups',
        state: 'error',
        text: expect.stringMatching(/have failed since .*: keyward-scheduled-\S+ is damaged/),
        fix: expect.stringContaining('Keep the backups that you have'),
      },
    ])

    const failedAt = async () => (await stateOf(server))?.failure?.at
    const failingHours = rounds(1, 3)
    for (let hours = 0; hours < failingHours; hours += 1) {
      server.clock.advance(hour)
      await expect.poll(failedAt).toBe(server.clock.now())
    }
    expect(subjects()).toEqual([failed])
    server.clock.advance((24 - failingHours) * hour)
    await expect.poll(subjects).toEqual([failed, failed])
    expect(await metric(server, 'keyward_scheduled_backup_failing')).toMatch(/ 1$/)
    expect(await metric(server, 'keyward_scheduled_backups_total{result="failure"}')).toMatch(/ [3-9]$/)
    expect((await server.call('GET', '/ready')).status).toBe(200)

    rmSync(join(root, 'break'))
    server.clock.advance(hour)
    await expect.poll(subjects).toEqual([failed, failed, works])
    await expect.poll(files).toEqual([good, expect.stringContaining('-000002-')])
    await expect.poll(() => stateOf(server)).toMatchObject({ failure: null, isTold: false })
  })

  test('because of the disk says how much it needs, leaves nothing, and mails even if nothing can be stored', async ({
    skip,
  }) => {
    const disk = mountSmallDisk(48)
    if (!disk) return skip('mounting a file system is not permitted here')
    rmSync(root, { recursive: true })
    const mounted = disk.path
    root = mounted
    mkdirSync(join(root, 'backups'))
    try {
      const { server, mail } = await startMailed()
      await untilNumbers(1)
      const owner = await signUp(server)
      const good = basename(newest())
      disk.fill(8_000_000)
      server.clock.advance(day)
      await expect.poll(subjects).toEqual([failed])
      expect(sink?.received[0]?.body.replace(/=\r\n/g, '')).toMatch(
        /A backup needs \d+\.\d MB in \S+backups, and [78]\.\d MB are/,
      )
      await expect.poll(files).toEqual([good])
      expect((await server.call('GET', '/ready')).status).toBe(200)
      expect((await doctor(mail))[0].fix).toMatch(/^Free space on the disk of /)
      await makeApp(owner)

      const write = () => putMeta(server.database.db, 'trial', randomBytes(50_000).toString('hex'))
      await expect
        .poll(() => {
          disk.fill()
          return write().then(() => 'stored', storageFailureOf)
        })
        .toBe('storage_full')
      server.clock.advance(day)
      await expect.poll(subjects).toEqual([failed, failed])
      disk.empty()
      await expect.poll(async () => (await server.call('GET', '/ready')).status).toBe(200)
      server.clock.advance(hour)
      await expect.poll(subjects).toEqual([failed, failed, works])
      expect(numbers()).toEqual(['000001', '000002'])
      await expect.poll(unfinished).toEqual([])
      await stop(server)
    } finally {
      disk.unmount()
    }
  })

  test('is shown to the operator, and to the vendor of a server with one vendor', async () => {
    rmSync(join(root, 'backups'), { recursive: true })
    const server = await start({ BACKUP_MAIL: address, SMTP_URL: 'smtp://127.0.0.1:1' })
    await expect.poll(() => isFailing(server)).toBe(true)
    const kindsOf = async (token: string | undefined) =>
      (await server.call('GET', '/attention', { token })).json.data.attention.map(
        ({ kind }: { kind: string }) => kind,
      )
    const { token, id } = await signUp(server)
    expect(await kindsOf(token)).toEqual(['backups_fail'])
    const body = { name: 'Operator', email: address, password: 'correct horse' }
    const operator = (await server.call('POST', '/auth/register', { body })).json.data.token
    expect(await kindsOf(token)).toEqual([])
    expect(await kindsOf(operator)).toEqual(['backups_fail', 'address_unconfirmed'])
    await trustMails(server, id, 0)
    expect(await kindsOf(token)).toEqual(['address_unconfirmed'])
  })

  test.skipIf(!isFull)(
    'because its folder is missing makes none, so that a disk that is not there stays empty',
    async () => {
      rmSync(join(root, 'backups'), { recursive: true })
      const server = await start()
      await expect.poll(() => isFailing(server)).toBe(true)
      expect((await stateOf(server))?.failure).toMatchObject({
        fault: 'folder',
        reason: `There is no directory ${join(root, 'backups')}.`,
      })
      expect(existsSync(join(root, 'backups'))).toBe(false)
      mkdirSync(join(root, 'backups'))
      server.clock.advance(hour)
      await untilNumbers(1)
      await expect.poll(() => isFailing(server)).toBe(false)
    },
  )

  test.skipIf(!isFull)('because a restore would refuse it says why', async () => {
    const server = await start()
    await untilNumbers(1)
    if (server.database.dialect === 'sqlite')
      server.database.handles.writer.database.exec('create table extra (id integer)')
    server.clock.advance(day)
    await expect.poll(() => isFailing(server)).toBe(true)
    expect((await stateOf(server))?.failure?.reason).toContain('contains the table "extra"')
    expect(numbers()).toEqual(['000001'])
  })

  test.skipIf(!isFull)(
    'because its process dies is reported, and the end of the server is none',
    async () => {
      const programOf = (text: string): BackupOptions => {
        const path = join(root, `${randomBytes(4).toString('hex')}.mjs`)
        writeFileSync(path, text)
        return { ...often, program: pathToFileURL(path) }
      }
      const dying = programOf("process.kill(process.pid, 'SIGKILL')")
      const server = await start({}, { backupOptions: dying })
      await expect.poll(() => isFailing(server)).toBe(true)
      expect((await stateOf(server))?.failure?.reason).toBe('The process of the backup was ended by SIGKILL.')
      await stop(server)
      const begun = JSON.stringify(join(root, 'backups', 'begun'))
      const hanging = programOf(
        `process.on('message', () => process.getBuiltinModule('fs').writeFileSync(${begun}, ''))`,
      )
      const clock = new TestClock()
      clock.advance(day)
      const next = await start({}, { backupOptions: hanging, clock })
      await expect.poll(files).toEqual(['begun'])
      const { at } = (await stateOf(next))?.failure ?? {}
      await next.server.close()
      expect((await stateOf(next))?.failure?.at).toBe(at)
      await next.database.close()
      on = undefined
    },
  )
})

test('a server that is killed during a backup removes its unfinished files when it starts again, and makes another', async () => {
  const server = await start()
  await untilNumbers(1)
  fill(server, rounds(20, 40))
  const { id = '' } = (await stateOf(server)) ?? {}
  await stop(server)
  for (const name of files()) rmSync(join(root, 'backups', name))
  const settings = { ...environment(), LOG_LEVEL: 'error' }
  const killed = await startProcess(settings)
  await expect.poll(unfinished, { interval: 1 }).toHaveLength(1)
  await killed.end('SIGKILL')
  const own = `.keyward-${id}.partial-00000000`
  const foreign = `.keyward-${'0'.repeat(16)}.partial-00000000`
  for (const name of [own, foreign]) {
    mkdirSync(join(root, 'backups', name))
    writeFileSync(join(root, 'backups', name, 'copy.db'), 'unfinished')
  }
  const again = await startProcess(settings)
  await untilNumbers(1)
  await expect.poll(unfinished).toEqual([foreign])
  expect(await again.end('SIGTERM')).toBe(0)
  const DATA_DIR = join(root, 'restored')
  expect(await run(['restore', newest()], { DATA_DIR })).toMatchObject({ code: 0, stderr: '' })
})

test('doctor says what is missing: a schedule, a backup, a newer one, and somebody who is told', async () => {
  const server = await start({ BACKUP_EVERY: '0' })
  expect(await doctor({ BACKUP_EVERY: '0' })).toMatchObject([
    { state: 'warning', fix: expect.stringContaining('Set BACKUP_EVERY=24') },
  ])
  expect((await run(['backup'])).stdout).toContain(join(root, 'backups', 'keyward-'))
  expect(await doctor({ BACKUP_EVERY: '0' })).toMatchObject([{ state: 'ok' }])
  expect(await doctor()).toMatchObject([
    { state: 'warning', fix: expect.stringContaining('Start the server') },
    { state: 'warning', fix: 'Set BACKUP_MAIL to your address.' },
  ])
  await stop(server)
  // The clock of the tests shows a day of long ago.
  const scheduled = await start()
  await untilNumbers(1)
  await stop(scheduled)
  expect(await doctor({ BACKUP_MAIL: address })).toMatchObject([
    { state: 'error', fix: expect.stringContaining('Start the server') },
  ])
})
