import { createFloodGate } from '../apps/server/src/http/flood-gate.ts'

/** What the rate limiter of programs costs the answering thread. */
export interface LimiterResult {
  /** Microseconds per request, by the number of addresses that send requests. */
  costs: { addresses: number; us: number }[]
}

const requests = 1_000_000

/** In this process, because a load from one address would be rejected with the limiter on. */
export function measureLimiter(): LimiterResult {
  return { costs: [1, 1000, 50_000, 200_000].map((addresses) => ({ addresses, us: costOf(addresses) })) }
}

function costOf(addresses: number): number {
  const gate = createFloodGate({ max: Number.POSITIVE_INFINITY, windowMs: 60_000 })
  const callers = Array.from(
    { length: addresses },
    (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
  )
  const run = () => {
    for (let at = 0; at < requests; at += 1) gate(callers[at % addresses] as string)
  }
  run()
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}
