import { existsSync, readFileSync } from 'node:fs'
import autocannon, { type LoadRequest } from 'autocannon'
import { Caller } from './http.ts'
import { arePinned, measureHashes, type Running, startBare, startFloor } from './processes.ts'

const connections = 32

/** A call under full load, next to a bare server that returns the same bytes. */
export interface LoadResult {
  name: string
  perSecond: number
  barePerSecond: number
  ratio: number
  p50: number
  p99: number
  bareP50: number
  bareP99: number
  /** Microseconds of processor time per response, over all threads. */
  cpu: number
  bareCpu: number
  /** The main thread's part of it. */
  mainCpu: number
  bareMainCpu: number
  /** The smallest and the largest ratio of the rounds. */
  spread: [number, number]
  /** The figures of a server that does the least that the architecture requires. */
  floor?: { perSecond: number; mainCpu: number; ofBare: number }
  /** Compared with another version in the same rounds: its responses per second, and the ratio to it. */
  otherPerSecond?: number
  ofOther?: number
  ofOtherSpread?: [number, number]
  otherMainCpu?: number
  /** Password hashes per second in the same rounds, for calls that hash. */
  hashesPerSecond?: number
  ofHashes?: number
}

interface Options {
  rounds: number
  seconds: number
  hashing?: boolean
  /** Whether to measure the least that the architecture requires, too. */
  withFloor?: boolean
  other?: { running: Running; requests: LoadRequest[] } | undefined
}

/** Alternates the servers in one run, so that other load on the machine affects all; medians of the rounds. */
export async function measureLoad(
  name: string,
  running: Running,
  requests: LoadRequest[],
  { rounds, seconds, hashing = false, withFloor = false, other }: Options,
): Promise<LoadResult> {
  const [first] = requests
  if (!first) throw new Error(`no request for ${name}`)
  const caller = new Caller(running.baseUrl)
  const answer = await caller.send(first)
  caller.close()
  const bare = await startBare({ [first.path]: answer })
  const floor = withFloor ? await startFloor({ [first.path]: answer }) : undefined
  try {
    for (const one of [running, bare, floor]) if (one) await load(one, requests, 2)
    if (other) await load(other.running, other.requests, 2)
    const results: {
      server: Load
      bare: Load
      hashes: number
      least: Load | undefined
      old: Load | undefined
    }[] = []
    for (let round = 0; round < rounds; round += 1) {
      const hashes = hashing ? await measureHashes(seconds) : Number.NaN
      const server = await load(running, requests, seconds)
      const old = other && (await load(other.running, other.requests, seconds))
      const least = floor && (await load(floor, requests, seconds))
      results.push({ server, bare: await load(bare, requests, seconds), hashes, least, old })
    }
    const ratios = results.map(({ server, bare }) => server.perSecond / bare.perSecond)
    const toOther = results.map(({ server, old }) => server.perSecond / (old?.perSecond ?? Number.NaN))
    const of = (pick: (result: (typeof results)[number]) => number) => median(results.map(pick))
    return {
      name,
      perSecond: of(({ server }) => server.perSecond),
      barePerSecond: of(({ bare }) => bare.perSecond),
      ratio: median(ratios),
      spread: spreadOf(ratios),
      p50: of(({ server }) => server.p50),
      p99: of(({ server }) => server.p99),
      bareP50: of(({ bare }) => bare.p50),
      bareP99: of(({ bare }) => bare.p99),
      cpu: of(({ server }) => server.cpu),
      bareCpu: of(({ bare }) => bare.cpu),
      mainCpu: of(({ server }) => server.mainCpu),
      bareMainCpu: of(({ bare }) => bare.mainCpu),
      ...(floor && {
        floor: {
          perSecond: of(({ least }) => least?.perSecond ?? Number.NaN),
          mainCpu: of(({ least }) => least?.mainCpu ?? Number.NaN),
          ofBare: of(({ least, bare }) => (least?.perSecond ?? Number.NaN) / bare.perSecond),
        },
      }),
      ...(other && {
        otherPerSecond: of(({ old }) => old?.perSecond ?? Number.NaN),
        ofOther: median(toOther),
        ofOtherSpread: spreadOf(toOther),
        otherMainCpu: of(({ old }) => old?.mainCpu ?? Number.NaN),
      }),
      ...(hashing && {
        hashesPerSecond: of(({ hashes }) => hashes),
        ofHashes: of(({ server, hashes }) => server.perSecond / hashes),
      }),
    }
  } finally {
    await Promise.all([bare.stop(), floor?.stop()])
  }
}

interface Load {
  perSecond: number
  p50: number
  p99: number
  cpu: number
  mainCpu: number
}

async function load({ baseUrl, pid }: Running, requests: LoadRequest[], seconds: number): Promise<Load> {
  const [before, mainBefore] = [cpuMs(`/proc/${pid}/stat`), cpuMs(`/proc/${pid}/task/${pid}/stat`)]
  // One thread of the load tool is slower than a bare server, which must not wait for it.
  const threads = arePinned() ? { workers: 2 } : {}
  const result = await autocannon({ url: baseUrl, requests, connections, duration: seconds, ...threads })
  if (result.non2xx + result.errors + result.timeouts > 0) {
    throw new Error(`${requests[0]?.path}: ${result.non2xx} rejections, ${result.errors} errors`)
  }
  return {
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpu: ((cpuMs(`/proc/${pid}/stat`) - before) / result.requests.total) * 1000,
    mainCpu: ((cpuMs(`/proc/${pid}/task/${pid}/stat`) - mainBefore) / result.requests.total) * 1000,
  }
}

/** The processor time of a process or thread, where /proc exists. */
function cpuMs(path: string): number {
  if (!existsSync(path)) return Number.NaN
  const [user, system] = readFileSync(path, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? []
  return (Number(user) + Number(system)) * 10
}

const spreadOf = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)]

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** The value at this share of the sorted values; the largest for few values. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
