import { constants, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureFairness } from './fairness.ts'
import { measureLoad } from './load.ts'
import { type Running, startServer } from './processes.ts'
import { missedMarks, printReport, type Results, writeReport } from './report.ts'
import { readSeeded, type Seeded, seededFolder } from './seed.ts'
import { listCases, measureWaits } from './waits.ts'
import { prepareWorld, type World } from './world.ts'

const sections = ['validate', 'session', 'init', 'login', 'create', 'lists', 'writes', 'fairness'] as const
type Section = (typeof sections)[number]

const { values: options } = parseArgs({
  options: {
    licenses: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: sections.join(',') },
    profile: { type: 'string' },
    beside: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
})
const wanted = new Set(options.only.split(',') as Section[])
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)

const results: Results = {
  licenses: Number(options.licenses),
  loads: [],
  lists: [],
  writes: [],
  fairness: [],
}
if ([...wanted].some((section) => section !== 'fairness')) await measureMany()
if (wanted.has('fairness')) {
  console.log('Measuring checks while another account is busy …')
  results.fairness = await measureFairness(seconds)
}
printReport(results)
if (wanted.size === sections.length) writeReport(results)
const missed = missedMarks(results)
for (const text of missed) console.log(`MISSED ${text}`)
if (options.check && missed.length > 0) process.exitCode = 1

/** Measures everything that needs one owner with very many licenses. */
async function measureMany(): Promise<void> {
  const folder = await seededFolder(Number(options.licenses))
  const seeded = readSeeded(folder)
  const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  await withServer(folder, { profiling }, async (server) => {
    const world = await prepareWorld(server.baseUrl, seeded)
    const { beside } = options
    if (!beside) return measure(server, world, seeded)
    await withServer(folder, { checkout: beside }, async (running) =>
      measure(server, world, seeded, { running, world: await prepareWorld(running.baseUrl, seeded) }),
    )
  })
}

/** Runs a server on its own copy of the seeded data. */
async function withServer(
  folder: string,
  { profiling, checkout }: { profiling?: string[]; checkout?: string },
  use: (server: Running) => Promise<void>,
): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'keyward-bench-run-'))
  try {
    for (const name of readdirSync(folder)) {
      copyFileSync(join(folder, name), join(work, name), constants.COPYFILE_FICLONE)
    }
    const server = await startServer({ DATA_DIR: work }, profiling, checkout)
    try {
      await use(server)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

type Other = { running: Running; world: World }

async function measure(server: Running, world: World, seeded: Seeded, other?: Other): Promise<void> {
  const { baseUrl } = server
  const underLoad = { rounds, seconds }
  const cases = [
    ['validate', 'client/validate', 'validate'],
    ['session', 'client/session', 'session'],
    ['init', 'client/init', 'init'],
    ['login', 'client/login', 'login'],
    ['create', 'POST /licenses', 'createLicense'],
  ] as const
  for (const [section, name, requests] of cases) {
    if (!wanted.has(section)) continue
    console.log(`Loading ${name} …`)
    results.loads.push(
      await measureLoad(name, server, world[requests], {
        ...underLoad,
        hashing: section === 'login',
        other: other && { running: other.running, requests: other.world[requests] },
      }),
    )
  }
  if (wanted.has('lists')) {
    console.log('Measuring lists …')
    const lists = await listCases(baseUrl, world, seeded)
    results.lists = await measureWaits(baseUrl, world, lists, { rounds, calls: 70 })
  }
  if (wanted.has('writes')) {
    console.log('Measuring bulk writes and deletes …')
    const hundred = [{ name: 'POST /licenses, 100 in one request', request: world.createHundred }]
    const all = [{ name: 'DELETE /licenses, all licenses', request: world.deleteLicenses }]
    results.writes = [
      ...(await measureWaits(baseUrl, world, hundred, { rounds, calls: 30 })),
      ...(await measureWaits(baseUrl, world, all, { rounds: 1, calls: 1 })),
    ]
  }
}
