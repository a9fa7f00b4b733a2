import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from './load.ts'
import { startServer } from './processes.ts'

/** A restart on an embedded database without licenses; medians and largest values. */
export interface StartResult {
  /** Until the first answer. */
  ms: number
  maxMs: number
  /** Resident memory two seconds later, in millions of bytes. */
  megabytes: number
  maxMegabytes: number
}

const starts = 5
const settledMs = 2000

/** The first start migrates and fills the compile cache; it is not counted. */
export async function measureStart(): Promise<StartResult> {
  const work = mkdtempSync(join(tmpdir(), 'keyward-bench-start-'))
  try {
    await start(work)
    const results: { ms: number; megabytes: number }[] = []
    for (let count = 0; count < starts; count += 1) results.push(await start(work))
    const [times, sizes] = [results.map(({ ms }) => ms), results.map(({ megabytes }) => megabytes)]
    return {
      ms: percentile(times, 0.5),
      maxMs: Math.max(...times),
      megabytes: percentile(sizes, 0.5),
      maxMegabytes: Math.max(...sizes),
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function start(work: string): Promise<{ ms: number; megabytes: number }> {
  const before = performance.now()
  const server = await startServer({ DATA_DIR: work })
  try {
    const answer = await fetch(`${server.baseUrl}/api/health`)
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
    const ms = performance.now() - before
    await pause(settledMs)
    return { ms, megabytes: residentMegabytes(server.pid) }
  } finally {
    await server.stop()
  }
}

/** Where /proc exists. */
function residentMegabytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kibibytes) * 1024) / 1e6
}
