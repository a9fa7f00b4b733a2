import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from './free-port.ts'
import {
  findBinaries,
  type PrivateCluster,
  startPrivateCluster,
  unprivilegedAccount,
} from './postgres-cluster.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const SECRET_KEY = 'a secret key with more than 32 characters'
const credentials = { email: 'vendor@example.com', password: 'correct horse' }
const documentation = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
const bin = findBinaries()
const account = process.getuid?.() === 0 ? unprivilegedAccount() : {}
let folder: string
let restored: string
let cluster: PrivateCluster | undefined
let server: ServerProcess | undefined

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-recovery-'))
  restored = join(folder, 'restored')
  for (const path of [folder, restored, join(folder, 'wal')]) {
    if (path !== folder) mkdirSync(path, { mode: 0o700 })
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid ?? account.uid)
  }
})
afterAll(async () => {
  await server?.end('SIGKILL')
  if (existsSync(join(restored, 'postmaster.pid'))) run('pg_ctl --pgdata="$NEW_PGDATA" --mode=fast stop')
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A block of docs/operations.md that starts with this line, with a directory of this test. */
function documented(firstLine: string): string {
  const [, block] = documentation.split(`\n${firstLine}`)
  const [text = ''] = (block ?? '').split('\n```')
  expect(text).toContain('/var/backups/keyward')
  return text.slice(text.indexOf('\n') + 1).replaceAll('/var/backups/keyward', folder)
}

const run = (commands: string, env: Record<string, string> = {}) =>
  execFileSync('sh', ['-euc', commands], {
    ...account,
    cwd: folder,
    env: { PATH: `${bin}:${process.env.PATH}`, LC_ALL: 'C.UTF-8', NEW_PGDATA: restored, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })

const settings = () =>
  Object.fromEntries(
    [...documented('# postgresql.conf').matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  )

async function ask(url: string, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return String(rows[0]?.answer)
  } finally {
    await client.end()
  }
}

const start = async (DATABASE_URL: string) => {
  server = await startProcess({ DATABASE_URL, SECRET_KEY, DATA_DIR: join(folder, 'data') })
}

async function call(method: string, path: string, options = {}) {
  const { status, json } = await callOver(server?.url ?? '', method, path, options)
  expect([path, status]).toEqual([path, method === 'POST' ? 201 : 200])
  return json.data
}

test('the documented base backup and archive return PostgreSQL to a moment', async ({ skip }) => {
  if (!existsSync(join(bin, 'pg_basebackup'))) return skip()
  cluster = await startPrivateCluster(settings())
  await start(cluster.url)
  const { token } = await call('POST', '/auth/register', { body: { name: 'V', ...credentials } })
  const { app } = await call('POST', '/apps', { token, body: { name: 'Atlas' } })
  const issue = (note: string) =>
    call('POST', '/licenses', { token, body: { app: app._id, expiresAt: '2999-01-01', note } })
  await issue('before the base backup')
  const backup = documented('# a base backup')
  run(backup, { REPLICATION_URL: cluster.url })

  await issue('after the base backup')
  const read = async () => [await call('GET', '/apps', { token }), await call('GET', '/licenses', { token })]
  const before = await read()
  const moment = await ask(cluster.url, 'select clock_timestamp()::text as answer')
  await issue('after the moment')
  await call('DELETE', `/licenses/${before[1].licenses[0]._id}`, { token })
  await server?.end('SIGTERM')
  const last = await ask(cluster.url, 'select pg_walfile_name(pg_switch_wal()) as answer')
  await expect.poll(() => existsSync(join(folder, 'wal', last))).toBe(true)
  await cluster.stop()
  cluster = undefined

  const port = await freePort()
  const example = "'2027-01-31 08:30:00+00'"
  const restore = documented('# a restore')
  expect(restore).toContain(example)
  const copied = restore.split('\n').findIndex((line) => line.startsWith('chmod'))
  const lines = restore.replace(example, `'${moment}'`).split('\n')
  const base = { base: join(folder, readdirSync(folder).find((name) => name.startsWith('base-')) ?? '') }
  run(lines.slice(0, copied).join('\n'), base)
  appendFileSync(
    join(restored, 'postgresql.conf'),
    `port = ${port}\nmax_connections = 200\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\n`,
  )
  run(lines.slice(copied).join('\n'), base)

  const url = `postgres://keyward@127.0.0.1:${port}/postgres`
  await expect.poll(() => ask(url, 'select pg_is_in_recovery()::text as answer')).toBe('false')
  await start(url)
  expect(await read()).toEqual(before)
})
