import { open } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { toRanges } from './network-ranges.ts'
import { type Network, parseNetwork } from './networks.ts'
import type { RangeLimits, RangesFile } from './vpn-ranges.ts'

const longestLine = 1000
const notRanges = 'it does not list one address or network per line'

const { path, limits } = workerData as { path: string; limits: RangeLimits }
const result = await readRanges().catch((error: NodeJS.ErrnoException) => ({
  failed: error.code ?? error.message,
}))
const buffers =
  'ranges' in result
    ? Object.values(result.ranges).flatMap(({ firsts, lasts }) => [firsts.buffer, lasts.buffer])
    : []
parentPort?.postMessage(result, buffers)

async function readRanges(): Promise<RangesFile> {
  const file = await open(path, 'r')
  try {
    const networks: Network[] = []
    let skipped = 0
    const add = (line: string) => {
      const text = line.replace(/#.*/, '').trim()
      if (text === '') return
      const network = parseNetwork(text)
      if (network) networks.push(network)
      else skipped += 1
    }
    // Bounded, because the file may grow while it is read.
    const chunks = file.createReadStream({
      encoding: 'latin1',
      autoClose: false,
      start: 0,
      end: limits.bytes,
    })
    let rest = ''
    for await (const chunk of chunks as AsyncIterable<string>) {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) add(line)
      if (networks.length > limits.networks)
        return { refused: `it has more than ${limits.networks} networks` }
      if (rest.length > longestLine || skipped > networks.length + 1000) return { refused: notRanges }
    }
    add(rest)
    if (networks.length === 0 || skipped > networks.length) return { refused: notRanges }
    return { ranges: toRanges(networks), skipped }
  } finally {
    await file.close()
  }
}
