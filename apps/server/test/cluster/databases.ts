import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { unprivilegedAccount } from '../postgres-cluster.ts'
import { familyOf, type Program, send, startProgram, until } from './programs.ts'
import { toLoopback } from './settings.ts'

export type DatabaseName = 'db1' | 'db2'

/** A PostgreSQL under Patroni, as `deploy/cluster/patroni.yml` sets it up. */
export interface DatabaseServer {
  name: DatabaseName
  host: string
  start(): void
  /** Sends a signal to every process of this server, as if the machine stopped or lost its power. */
  signal(signal: NodeJS.Signals): void
  isPrimary(): Promise<boolean>
}

export const password = 'choose-a-fourth'

/** Starts etcd and both database servers, and creates the database. Returns the primary first. */
export async function startDatabases(directory: string): Promise<DatabaseServer[]> {
  const etcd = toLoopback('http://10.0.0.10:2379')
  const peer = toLoopback('http://10.0.0.10:2380')
  startProgram(
    'etcd',
    [
      ...['--name', 'etcd1', '--data-dir', join(directory, 'etcd')],
      ...['--listen-client-urls', etcd, '--advertise-client-urls', etcd],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `etcd1=${peer}`],
    ],
    { log: join(directory, 'etcd.log') },
  )
  const servers = (['db1', 'db2'] as const).map((name) => toServer(directory, name))
  const [first, second] = servers
  if (!first || !second) throw new Error('there are no servers')
  first.start()
  await until('the first primary', 60, async () => (await first.isPrimary()) || undefined)
  await createDatabase(first.host)
  second.start()
  await until('a synchronous standby', 60, () => findStandby(first.host))
  return servers
}

function toServer(directory: string, name: DatabaseName): DatabaseServer {
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : {}
  const host = toLoopback(name === 'db1' ? '10.0.0.11' : '10.0.0.12')
  const home = join(directory, name)
  mkdirSync(home)
  const settings = join(home, 'patroni.yml')
  const example = readFileSync(new URL('../../../../deploy/cluster/patroni.yml', import.meta.url), 'utf8')
  const text = toLoopback(
    example
      .replace('name: db1', `name: ${name}`)
      .replaceAll('10.0.0.11', name === 'db1' ? '10.0.0.11' : '10.0.0.12')
      .replace('/var/lib/postgresql/15/keyward', join(home, 'data'))
      .replace('/usr/lib/postgresql/15/bin', binaries()),
  )
  // Both servers share a machine here, and the usual directory of sockets belongs to the system.
  const ownSocket = `\npostgresql:\n  parameters:\n    unix_socket_directories: ${home}`
  writeFileSync(settings, text.replace(/\npostgresql:/, ownSocket))
  for (const path of [home, settings])
    chownSync(path, account.uid ?? process.getuid?.() ?? 0, account.gid ?? 0)
  let patroni: Program | undefined
  return {
    name,
    host,
    start() {
      patroni = startProgram('patroni', [settings], {
        ...account,
        log: join(directory, `${name}.log`),
        cwd: home,
        env: { HOME: home, LC_ALL: 'C.UTF-8' },
      })
    },
    signal(signal) {
      for (const pid of [...familyOf(patroni?.pid ?? 0), ...processesOf(home)]) send(pid, signal)
    },
    async isPrimary() {
      const answer = await fetch(`http://${host}:8008/primary`, { signal: AbortSignal.timeout(1000) })
      await answer.arrayBuffer()
      return answer.status === 200
    },
  }
}

/** The processes of the PostgreSQL in a directory, which are not children of the Patroni that started it. */
function processesOf(home: string): number[] {
  const file = join(home, 'data', 'postmaster.pid')
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
  return familyOf(pid)
}

/** Kills every PostgreSQL that was started in the directory. */
export function endDatabases(directory: string): void {
  for (const name of ['db1', 'db2'])
    for (const pid of processesOf(join(directory, name))) send(pid, 'SIGKILL')
}

const binaries = (): string => execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()

async function createDatabase(host: string): Promise<void> {
  await asSuperuser(host, async (client) => {
    await client.query(`create role keyward login password '${password}'`)
    await client.query('create database keyward owner keyward')
  })
}

const findStandby = (host: string): Promise<true | undefined> =>
  asSuperuser(host, async (client) => {
    const { rows } = await client.query("select from pg_stat_replication where sync_state = 'sync'")
    return rows.length > 0 || undefined
  })

/** Runs the work with a connection to one server, as its superuser. */
export async function asSuperuser<T>(
  host: string,
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
) {
  const client = new pg.Client({ host, user: 'postgres', password: 'choose-one', database })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
