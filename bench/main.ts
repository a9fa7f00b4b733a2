import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { type Engine, withServer } from './engines.ts'
import { measureFairness } from './fairness.ts'
import { measureLimiter } from './limiter.ts'
import { measureLoad } from './load.ts'
import { pinProcesses, type Running } from './processes.ts'
import { missedMarks, printReport, type Results, type Run, writeReport } from './report.ts'
import type { Seeded } from './seed.ts'
import { measureStart } from './start.ts'
import {
  changeCases,
  deletionCases,
  fileCases,
  listCases,
  measureWaits,
  nothing,
  nothingFor,
} from './waits.ts'
import { prepareWorld, type World } from './world.ts'

const loads = [
  ['validate', 'client/validate', 'validate'],
  ['session', 'client/session', 'session'],
  ['check', 'api/1.2 check', 'check'],
  ['init', 'client/init', 'init'],
  ['login', 'client/login', 'login'],
  ['create', 'POST /licenses', 'createLicense'],
] as const
const sections = [...loads.map(([section]) => section), 'lists', 'writes', 'fairness', 'limiter', 'start']

const { values: options } = parseArgs({
  options: {
    licenses: { type: 'string', default: '10000,1000000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: sections.join(',') },
    data: { type: 'string' },
    profile: { type: 'string' },
    beside: { type: 'string' },
    'delete-up-to': { type: 'string', default: '1000000' },
    cores: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
})
const wanted = new Set(options.only.split(','))
for (const name of wanted) if (!sections.includes(name)) throw new Error(`there is no section ${name}`)
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const started = performance.now()
if (options.cores) pinProcesses(options.cores)

const results: Results = { runs: [], fairness: [], limiter: undefined, start: undefined }
const isLicensed = (section: string) => !['fairness', 'limiter', 'start'].includes(section)
if ([...wanted].some(isLicensed)) {
  for (const database of options.databases.split(',') as Engine[]) {
    for (const licenses of options.licenses.split(',').map(Number)) {
      results.runs.push(await measureRun(database, licenses))
    }
  }
}
if (wanted.has('fairness')) {
  console.log('Measuring checks while another account is busy …')
  results.fairness = await measureFairness(seconds)
}
if (wanted.has('limiter')) results.limiter = measureLimiter()
if (wanted.has('start')) results.start = await measureStart()
printReport(results)
if (wanted.size === sections.length) writeReport(results)
console.log(`\nTook ${Math.round((performance.now() - started) / 60_000)} minutes.`)
const missed = missedMarks(results)
for (const text of missed) console.log(`MISSED ${text}`)
if (options.check && missed.length > 0) process.exitCode = 1

/** Measures everything that needs one owner with many licenses. */
async function measureRun(database: Engine, licenses: number): Promise<Run> {
  const run: Run = { database, licenses, loads: [], lists: [], writes: [] }
  const flags = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  const { beside: checkout, data } = options
  await withServer({ database, licenses, flags, data }, async (server, seeded) => {
    const world = await prepareWorld(server.baseUrl, seeded)
    if (!checkout) return measure(run, server, world, seeded)
    await withServer({ database, licenses, checkout }, async (running, others) =>
      measure(run, server, world, seeded, { running, world: await prepareWorld(running.baseUrl, others) }),
    )
  })
  return run
}

type OtherVersion = { running: Running; world: World }

async function measure(run: Run, server: Running, world: World, seeded: Seeded, other?: OtherVersion) {
  const { baseUrl } = server
  const what = `${run.database}, ${run.licenses} licenses`
  for (const [section, name, requests] of loads) {
    if (!wanted.has(section)) continue
    console.log(`Loading ${name} (${what}) …`)
    run.loads.push(
      await measureLoad(name, server, world[requests], {
        rounds,
        seconds,
        hashing: section === 'login',
        withFloor: section === 'session' || section === 'validate',
        // A check of another system's protocol alternates with our own.
        other:
          section === 'check'
            ? { running: server, requests: world.session }
            : other && { running: other.running, requests: other.world[requests] },
      }),
    )
  }
  if (wanted.has('lists')) {
    console.log(`Measuring lists (${what}) …`)
    const lists = await listCases(baseUrl, world, seeded)
    run.lists = await measureWaits(baseUrl, world, lists, { rounds, calls: 70 })
  }
  if (wanted.has('writes')) {
    console.log(`Measuring bulk writes and deletes (${what}) …`)
    const probeFolder = options.data ?? tmpdir()
    const changes = await changeCases(baseUrl, world)
    const files = fileCases(world, seeded, run.licenses)
    const waits = async (cases: Parameters<typeof measureWaits>[2], rounds: number, calls: number) => {
      run.writes.push(...(await measureWaits(baseUrl, world, cases, { rounds, calls, probeFolder })))
    }
    await waits([nothing], rounds, 3)
    await waits(changes, rounds, 30)
    await waits(files, rounds, 1)
    if (run.licenses <= Number(options['delete-up-to'])) {
      await waits(deletionCases(world, seeded, run.licenses), 1, 1)
      await waits([{ name: 'DELETE /licenses, all licenses', request: world.deleteLicenses }], 1, 1)
      for (const deletion of run.writes.slice(-1)) await waits([nothingFor(deletion)], 1, 1)
    }
  }
}
