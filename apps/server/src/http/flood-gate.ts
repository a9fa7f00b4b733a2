import type { FastifyRequest } from 'fastify'
import { type Problem, rateLimited } from '../core/problem.ts'
import { visitorOf } from '../core/visitor.ts'

/**
 * Rejects a flood from one address before anything is read; each node counts separately. Uses a monotonic clock: a
 * window would not end if the clock were set back.
 */
export function createFloodGate(options: {
  max: number
  windowMs: number
  /** How many addresses are counted at once; the least recently seen is dropped first. */
  visitors?: number
  now?: () => number
}) {
  const { max, windowMs, visitors = 50_000, now: read = () => performance.now() } = options
  const seen = new Map<string, number>()
  let windowEnds = 0
  return (request: Pick<FastifyRequest, 'ip'>): Problem | undefined => {
    const now = read()
    if (now >= windowEnds) {
      seen.clear()
      windowEnds = now + windowMs
    }
    const visitor = visitorOf(request.ip)
    const count = (seen.get(visitor) ?? 0) + 1
    seen.delete(visitor)
    seen.set(visitor, count)
    if (seen.size > visitors) seen.delete(seen.keys().next().value ?? '')
    return count > max ? rateLimited(windowEnds - now) : undefined
  }
}
