import { limits } from '@keyward/contract'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { minute } from '../core/clock.ts'
import { visitorOf } from '../core/networks/caller.ts'
import { type Problem, rateLimited } from '../core/problem.ts'

/**
 * Rejects a flood of one caller, an address or an API key; each node counts separately. Uses a monotonic clock: a
 * window would not end if the clock were set back.
 */
export function createFloodGate(options: {
  max: number
  windowMs: number
  /** How many callers are counted at most; those not seen for long are dropped first. */
  callers?: number
  now?: () => number
}) {
  const { max, windowMs, callers = 50_000, now: read = () => performance.now() } = options
  // Two generations, because finding the oldest entry of a Map is slow after many deletions.
  let recent = new Map<string, number>()
  let older = new Map<string, number>()
  let windowEnds = 0
  return (caller: string, weight = 1): Problem | undefined => {
    const now = read()
    if (now >= windowEnds) {
      recent.clear()
      older.clear()
      windowEnds = now + windowMs
    }
    const count = (recent.get(caller) ?? older.get(caller) ?? 0) + weight
    recent.set(caller, count)
    if (recent.size > callers / 2) {
      older = recent
      recent = new Map()
    }
    return count > max ? rateLimited(windowEnds - now) : undefined
  }
}

/** A gate for so many calls a minute; without limits, nothing is counted. */
export const gateOf = (
  { rateLimits }: Pick<Config, 'rateLimits'>,
  max: number,
): ReturnType<typeof createFloodGate> =>
  rateLimits === 'on' ? createFloodGate({ max, windowMs: minute }) : () => undefined

type Refuse = (request: FastifyRequest) => Problem | undefined

/** What limits the calls of programs from one address. */
export interface Floods {
  /** Its refusals are signed, for which the request is read. */
  refuseFlood: Refuse
  /** For many more requests: refused before they are read. */
  refuseUnread: Refuse
}

export function createFloods(config: Config, max: number = limits.strangerRequestsPerMinute): Floods {
  const refuseBeyond = (most: number): Refuse => {
    const gate = gateOf(config, most)
    return ({ ip }) => gate(visitorOf(ip))
  }
  return { refuseFlood: refuseBeyond(max), refuseUnread: refuseBeyond(2 * max) }
}
