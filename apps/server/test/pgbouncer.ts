import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { unprivilegedAccount } from './postgres-cluster.ts'

export interface Pooler {
  /** The same database, through the pooler. */
  url: string
  stop(): Promise<void>
}

const isRoot = process.getuid?.() === 0

/** Finds PgBouncer; in CI installs it if it is missing. */
export function findPgBouncer(): string | undefined {
  const find = () =>
    ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)
  const found = find()
  if (found || process.env.CI === undefined || !isRoot) return found
  try {
    execFileSync('apt-get', ['update'], { stdio: 'ignore', timeout: 60_000 })
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'pgbouncer'], {
      stdio: 'ignore',
      timeout: 60_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch {
    return undefined
  }
  return find()
}

/** Starts PgBouncer in transaction mode: each transaction may get another one of a few shared connections. */
export async function startPgBouncer(bin: string, databaseUrl: string): Promise<Pooler> {
  const to = new URL(databaseUrl)
  const directory = mkdtempSync(join(tmpdir(), 'keyward-pgbouncer-'))
  const account = isRoot ? unprivilegedAccount() : {}
  const port = await freePort()
  const name = to.pathname.slice(1)
  const settings = join(directory, 'pgbouncer.ini')
  const users = join(directory, 'users.txt')
  writeFileSync(users, `"${to.username}" "${to.password}"\n`)
  writeFileSync(
    settings,
    `[databases]
${name} = host=${to.hostname} port=${to.port} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = trust
auth_file = ${users}
unix_socket_dir =
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
server_login_retry = 2
logfile = ${join(directory, 'log')}
`,
  )
  for (const path of account.uid === undefined ? [] : [directory, settings, users]) {
    chownSync(path, account.uid ?? 0, account.gid ?? 0)
  }
  const pooler = spawn(bin, [settings], { ...account, cwd: directory, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => pooler.once('exit', () => resolve()))
  const url = Object.assign(new URL(to), { hostname: '127.0.0.1', port: String(port) }).toString()
  await untilReady(url, () => pooler.exitCode !== null)
  return {
    url,
    async stop() {
      pooler.kill('SIGINT')
      const late = setTimeout(() => pooler.kill('SIGKILL'), 2000)
      await ended
      clearTimeout(late)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1200 && !hasEnded(); attempt += 1) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error('PgBouncer did not become ready')
}
