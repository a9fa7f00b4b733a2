// Fills landed states of before through their own APIs, upgrades them to this one, and goes back: every answer, every row and
// every program is compared, on both databases.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCluster } from '../postgres-cluster.ts'
import { main as present } from '../server-process.ts'
import { embeddedStore, postgresStore, type Store } from './databases.ts'
import { install, landedStates, type State } from './states.ts'
import { tryUpgrade } from './steps.ts'

const { values: options } = parseArgs({
  options: {
    from: { type: 'string', multiple: true, default: landedStates },
    database: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    folder: { type: 'string' },
  },
})

const scratch = mkdtempSync(join(tmpdir(), 'keyward-upgrades-'))
const isEverythingKept: boolean[] = []

async function each(states: readonly State[], open: (folder: string, state: State) => Promise<Store>) {
  for (const state of states) {
    const folder = mkdtempSync(join(scratch, state.name))
    const store = await open(folder, state)
    try {
      isEverythingKept.push(await tryUpgrade(state, store, folder, present))
    } finally {
      await store.remove()
    }
  }
}

try {
  const installed = options.folder ?? join(scratch, 'states')
  mkdirSync(installed, { recursive: true })
  const states = options.from.map((commit) => {
    console.log(`Installing ${commit.slice(0, 8)} …`)
    return install(commit, installed)
  })
  if (options.database.includes('sqlite')) await each(states, async (folder) => embeddedStore(folder))
  if (options.database.includes('postgres')) {
    const cluster = await startCluster()
    try {
      await each(states, (folder, { name }) => postgresStore(folder, cluster.url, name))
    } finally {
      await cluster.stop()
    }
  }
  const failed = isEverythingKept.filter((isKept) => !isKept).length
  console.log(`${isEverythingKept.length} upgrades, ${failed} with faults`)
  process.exitCode = failed === 0 && isEverythingKept.length > 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
