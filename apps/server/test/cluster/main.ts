// Runs Keyward as `deploy/cluster` shows it, on this machine alone: three nodes, a proxy, a pooler, and a primary with a
// synchronous standby under Patroni. Under load it kills, freezes, promotes and updates, and proves that no acknowledged write is lost.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { asSuperuser, type DatabaseServer, endDatabases, startDatabases } from './databases.ts'
import { startPooler, startProxy } from './front.ts'
import { type Acknowledged, call, Load } from './load.ts'
import { type Node, nodeNames, toNode } from './nodes.ts'
import { endAll, until } from './programs.ts'
import { consequencesOf, type Event, toTable } from './report.ts'

const nodes: Node[] = []
const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '5' }, keep: { type: 'boolean', default: false } },
})
const totalMs = Number(options.minutes) * 60_000
if (!(totalMs >= 120_000)) throw new Error('--minutes takes at least 2')

/** Seconds without a success that an event may cost: the time in which the manager and the proxy notice it, and some more. */
const bounds: Record<string, Partial<Record<'write' | 'check' | 'list', number>>> = {
  'a node is killed': { write: 8, check: 8, list: 8 },
  'a node freezes for 10 s': { write: 20, check: 20, list: 20 },
  'the primary is killed': { write: 60, check: 60, list: 60 },
  'the standby freezes for 15 s': { write: 40, check: 10, list: 10 },
  'the standby is promoted by hand': { write: 30, check: 30, list: 30 },
  'the pooler is killed': { write: 15, check: 15, list: 15 },
  'all nodes are updated, one by one': { write: 8, check: 8, list: 8 },
}

const directory = mkdtempSync(join(tmpdir(), 'keyward-cluster-'))
chmodSync(directory, 0o755)
async function main(): Promise<boolean> {
  const databases = await startDatabases(directory)
  startProxy(directory)
  const startPoolerAgain = startPooler(directory)
  let pooler = startPoolerAgain()
  const secretKey = randomBytes(32).toString('base64')
  for (const name of nodeNames) nodes.push(toNode(directory, secretKey, name))
  for (const node of nodes) await node.start()
  await until('the proxy', 30, async () => (await call('GET', '/ready')).status === 200 || undefined)
  const load = await Load.prepare()
  load.start()
  console.log('The cluster is under load.')

  const primary = () => until('a primary', 60, () => find(databases, true))
  const standby = () => until('a standby', 60, () => find(databases, false))
  const [app1, app2] = nodes
  const acts: [name: string, act: () => Promise<void>][] = [
    ['nothing happens', async () => {}],
    [
      'a node is killed',
      async () => {
        await app2?.end('SIGKILL')
        await wait(5000)
        await app2?.start()
      },
    ],
    [
      'a node freezes for 10 s',
      async () => {
        app1?.signal('SIGSTOP')
        await wait(10_000)
        app1?.signal('SIGCONT')
      },
    ],
    [
      'the primary is killed',
      async () => {
        const killed = await primary()
        killed.signal('SIGKILL')
        await until('a new primary', 60, () =>
          find(
            databases.filter((one) => one !== killed),
            true,
          ),
        )
        killed.start()
        await inSync(databases)
      },
    ],
    [
      'the standby freezes for 15 s',
      async () => {
        const frozen = await standby()
        frozen.signal('SIGSTOP')
        await wait(15_000)
        frozen.signal('SIGCONT')
        await inSync(databases)
      },
    ],
    [
      'the standby is promoted by hand',
      async () => {
        const from = await primary()
        const to = await standby()
        await fetch(`http://${from.host}:8008/switchover`, {
          method: 'POST',
          body: JSON.stringify({ leader: from.name, candidate: to.name }),
        })
        await until('the promotion', 60, async () => (await to.isPrimary()) || undefined)
        await inSync(databases)
      },
    ],
    [
      'the pooler is killed',
      async () => {
        pooler.signal('SIGKILL')
        await pooler.ended
        pooler = startPoolerAgain()
      },
    ],
    [
      'all nodes are updated, one by one',
      async () => {
        for (const node of nodes) {
          await node.end('SIGTERM')
          await node.start()
          await wait(2000)
        }
      },
    ],
  ]
  const events: Event[] = []
  const begun = performance.now()
  for (const [index, [name, act]] of acts.entries()) {
    const at = performance.now()
    console.log(`${((at - begun) / 1000).toFixed(0)} s: ${name}`)
    await act()
    const share = begun + (totalMs * (index + 1)) / acts.length - performance.now()
    await wait(Math.max(share, 5000))
    events.push({ name, at, until: performance.now() })
  }
  await load.stop()

  const consequences = consequencesOf(load.calls, events)
  console.log(toTable(consequences))
  const late = consequences.filter(({ name, kind, gap }) => gap > (bounds[name]?.[kind] ?? 5))
  for (const { name, kind, gap } of late) console.log(`TOO LONG: ${name}: no ${kind} for ${gap.toFixed(1)} s`)
  const lost = await findLost((await primary()).host, load.acknowledged)
  const { licenses, notes } = load.acknowledged
  const written = licenses.size + [...notes.values()].reduce((sum, round) => sum + round, 0)
  console.log(`${load.calls.length} calls, ${written} acknowledged writes, ${lost.length} lost`)
  for (const line of lost.slice(0, 20)) console.log(`LOST: ${line}`)
  return lost.length === 0 && late.length === 0 && written > 0
}

async function find(
  databases: readonly DatabaseServer[],
  isPrimary: boolean,
): Promise<DatabaseServer | undefined> {
  for (const one of databases) {
    const found = await one.isPrimary().catch(() => false)
    if (found === isPrimary) return one
  }
  return undefined
}

/** Waits until the primary has a synchronous standby. */
const inSync = (databases: readonly DatabaseServer[]): Promise<true> =>
  until('a synchronous standby', 90, async () => {
    const primary = await find(databases, true)
    if (!primary) return undefined
    return asSuperuser(primary.host, async (client) => {
      const { rows } = await client.query("select from pg_stat_replication where sync_state = 'sync'")
      return rows.length > 0 || undefined
    })
  })

/** Acknowledged writes that the database does not have. */
const findLost = (host: string, { licenses, notes }: Acknowledged): Promise<string[]> =>
  asSuperuser(
    host,
    async (client) => {
      const { rows } = await client.query<{ id: string; note: string | null }>(
        'select id, note from licenses',
      )
      const stored = new Map(rows.map(({ id, note }) => [id, note]))
      const missing = [...licenses].filter((id) => !stored.has(id)).map((id) => `license ${id}`)
      const older = [...notes]
        .filter(([id, round]) => !(Number(stored.get(id)) >= round))
        .map(([id, round]) => `note ${round} of license ${id}, which has ${stored.get(id)}`)
      return [...missing, ...older]
    },
    'keyward',
  )

try {
  process.exitCode = (await main()) ? 0 : 1
} finally {
  for (const node of nodes) await node.end('SIGKILL')
  await endAll()
  endDatabases(directory)
  if (options.keep) console.log(`The logs are in ${directory}`)
  else rmSync(directory, { recursive: true, force: true })
}
