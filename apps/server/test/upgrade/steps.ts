import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openDatabase } from '../../src/db/open.ts'
import { until } from '../cluster/programs.ts'
import { freePort } from '../free-port.ts'
import { recount } from '../recount.ts'
import { type ServerProcess, startProcess } from '../server-process.ts'
import { withAccess } from './access.ts'
import { type Calls, readAnswers, readCalls } from './answers.ts'
import { countValues, type Difference, differences, type Expected, judge, toLine } from './compare.ts'
import type { Store } from './databases.ts'
import {
  changedAnswers,
  changedPrograms,
  changedRows,
  expectedOf,
  movingAnswers,
  movingPrograms,
} from './expected.ts'
import { fill } from './fill.ts'
import { ship } from './programs.ts'
import type { State } from './states.ts'

/** One state on one database: filled, upgraded, gone back. Reports each step, and returns whether nothing was lost. */
export async function tryUpgrade(
  state: State,
  store: Store,
  folder: string,
  present: string,
): Promise<boolean> {
  console.log(`\n${state.name} (SDK ${state.sdkVersion}) on ${store.name}`)
  const port = String(await freePort())
  let faults = 0
  const report = (what: string, before: unknown, found: Difference[], expected: readonly Expected[]) => {
    const { unexpected, met } = judge(found, expected)
    faults += unexpected.length
    console.log(
      `${unexpected.length === 0 ? 'ok    ' : 'FAULT '} ${what}: ${countValues(before)} values compared`,
    )
    for (const [why, times] of met) console.log(`         ${times} differ: ${why}`)
    for (const difference of unexpected.slice(0, 40)) console.log(`         ${toLine(difference)}`)
    if (unexpected.length > 40) console.log(`         and ${unexpected.length - 40} more`)
  }
  const during = async <T>(program: string, work: (server: ServerProcess) => Promise<T>): Promise<T> => {
    const server = await startProcess({ ...store.environment(), PORT: port }, [], program)
    try {
      return await work(server)
    } catch (error) {
      console.log(server.output().slice(-3000))
      throw error
    } finally {
      await server.end('SIGTERM')
    }
  }

  let calls: Calls = {}
  const before = await during(state.main, async ({ url }) => {
    calls = await readCalls(url)
    const receiver = await startReceiver()
    const filled = await fill(state, url, calls, store.environment(), receiver.url)
    const programs = await ship(state, folder, url, filled)
    const ran = await programs.run()
    await until('all webhooks', 120, async () => (await filled.isDelivered()) || undefined)
    await receiver.stop()
    return { programs, ran, tokens: filled.tokens }
  })
  const { programs, ran, tokens } = before
  // Read after a restart, so that nothing that the server still gathers in memory is missing.
  const answers = await during(state.main, ({ url }) => readAnswers(url, calls, tokens))
  const refused = Object.entries(answers).filter(([, { status }]) => status !== 200)
  for (const [path, { status }] of refused) console.log(`         ${path} answered ${status} before`)
  const rows = await store.readRows()
  await store.beforeUpgrade()

  const output = await during(present, async (server) => server.output())
  for (const line of output.split('\n').filter((line) => /^Upgrad|^Its copy/.test(line)))
    console.log(`         ${line}`)
  report(
    'rows after the upgrade',
    rows,
    differences(withAccess(rows), withAccess(await store.readRows())),
    expectedOf(state, changedRows),
  )
  const { kept, counted } = await readCounts(store)
  report('counts and ends that the rows give', kept, differences(kept, counted), [])
  await during(present, async ({ url }) => {
    const now = await readAnswers(url, calls, tokens)
    report('answers after the upgrade', answers, differences(answers, now), [
      ...movingAnswers,
      ...expectedOf(state, changedAnswers),
    ])
    const runNow = await programs.run()
    report('programs after the upgrade', ran, differences(ran, runNow), [
      ...movingPrograms,
      ...expectedOf(state, changedPrograms),
    ])
  })

  await store.goBack()
  report('rows after going back', rows, differences(rows, await store.readRows()), [])
  await during(state.main, async ({ url }) => {
    const now = await readAnswers(url, calls, tokens)
    report('answers after going back', answers, differences(answers, now), movingAnswers)
    const runNow = await programs.run()
    report('programs after going back', ran, differences(ran, runNow), movingPrograms)
  })
  return faults === 0
}

/** The counts and ends that are stored after an upgrade, and those that the rows give. */
async function readCounts(store: Store) {
  const { DATABASE_URL: url, DATA_DIR: dataDir = '' } = store.environment()
  const database = openDatabase({ url, dataDir })
  try {
    return await recount({ database })
  } finally {
    await database.close()
  }
}

/** Accepts every event of webhooks. */
async function startReceiver(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}/in/a-secret-path`, stop }
}
