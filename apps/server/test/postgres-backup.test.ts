// In the full run: the tools of PostgreSQL make and restore the backup; postgres-recovery restores one in every run.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, startCluster } from './postgres-cluster.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const SECRET_KEY = 'a secret key with more than 32 characters'
const [first, second] = ['keyward_backup_first', 'keyward_backup_second']
const documentation = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
let cluster: Cluster
let admin: pg.Client
let folder: string
let server: ServerProcess | undefined

beforeAll(async () => {
  cluster = await startCluster()
  admin = new pg.Client({ connectionString: cluster.url })
  await admin.connect()
  await dropAll()
  for (const name of [first, second]) await admin.query(`create database ${name} template template0`)
  folder = mkdtempSync(join(tmpdir(), 'keyward-dump-'))
})
afterAll(async () => {
  await server?.end('SIGKILL')
  await dropAll()
  await admin.end()
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function dropAll() {
  for (const name of [first, second]) await admin.query(`drop database if exists ${name} with (force)`)
}

const urlOf = (name: string) => Object.assign(new URL(cluster.url), { pathname: name }).href
const startOn = (name: string) =>
  startProcess({ DATABASE_URL: urlOf(name), SECRET_KEY, DATA_DIR: join(folder, 'data') })

/** Runs a command as docs/operations.md shows it. */
function runDocumented(program: string) {
  const command = documentation.split('\n').find((line) => line.startsWith(program)) ?? ''
  expect(command).not.toBe('')
  const env = { ...process.env, DATABASE_URL: urlOf(first), NEW_DATABASE_URL: urlOf(second) }
  execFileSync('sh', ['-ec', command], { cwd: folder, env, stdio: 'pipe' })
}

const enter = async (on: ServerProcess, path: string, name: string) => {
  const credentials = { email: `${name}@example.com`, password: 'correct horse' }
  const body = path === '/auth/register' ? { ...credentials, name } : credentials
  return (await callOver(on.url, 'POST', path, { body })).status
}

async function hasTools(): Promise<boolean> {
  const tools = ['pg_dump', 'pg_restore'].map((tool) => spawnSync(tool, ['--version'], { encoding: 'utf8' }))
  const { rows } = await admin.query("select current_setting('server_version_num')::int / 10000 as major")
  return tools.every(({ status, stdout }) => status === 0 && Number(/\d+/.exec(stdout)?.[0]) >= rows[0].major)
}

test('the documented restore of PostgreSQL returns to the backup, also after an update', async ({ skip }) => {
  if (!(await hasTools())) return skip()
  server = await startOn(first)
  expect(await enter(server, '/auth/register', 'early')).toBe(201)
  runDocumented('pg_dump')
  expect(await enter(server, '/auth/register', 'late')).toBe(201)
  await server.end('SIGTERM')
  // What an update adds refers to older tables, so they cannot be replaced.
  const updated = new pg.Client({ connectionString: urlOf(first) })
  await updated.connect()
  await updated.query('create table of_an_update (owner_id text references owners (id))')
  await updated.end()

  runDocumented('pg_restore')
  server = await startOn(second)
  expect(await enter(server, '/auth/login', 'early')).toBe(200)
  expect(await enter(server, '/auth/login', 'late')).toBe(401)
})
