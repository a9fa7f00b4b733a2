import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unprivilegedAccount } from '../postgres-cluster.ts'
import { password } from './databases.ts'
import { type Program, startProgram } from './programs.ts'
import { toLoopback } from './settings.ts'

/** What the load calls. */
export const address = toLoopback('http://10.0.0.20:8080')

/** How the nodes reach the database: both through haproxy, one of them through a pooler besides. */
export const databaseUrls = {
  proxy: toLoopback(`postgres://keyward:${password}@10.0.0.20:5432/keyward`),
  pooler: toLoopback(`postgres://keyward:${password}@10.0.0.20:6432/keyward`),
}

export function startProxy(directory: string): void {
  const settings = join(directory, 'haproxy.cfg')
  writeFileSync(settings, toLoopback(example('haproxy.cfg')))
  startProgram('haproxy', ['-db', '-f', settings], { log: join(directory, 'haproxy.log') })
}

/** Starts the pooler; returns a function that starts it again after it was killed. */
export function startPooler(directory: string): () => Program {
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : {}
  const [settings, users] = [join(directory, 'pgbouncer.ini'), join(directory, 'userlist.txt')]
  writeFileSync(settings, toLoopback(example('pgbouncer.ini')).replace('/etc/pgbouncer/userlist.txt', users))
  writeFileSync(users, `"keyward" "${password}"\n`)
  for (const path of [settings, users])
    chownSync(path, account.uid ?? process.getuid?.() ?? 0, account.gid ?? 0)
  return () => startProgram('pgbouncer', [settings], { ...account, log: join(directory, 'pgbouncer.log') })
}

const example = (name: string) =>
  readFileSync(new URL(`../../../../deploy/cluster/${name}`, import.meta.url), 'utf8')
