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
  /** How many addresses are counted at most; those not seen for long are dropped first. */
  visitors?: number
  now?: () => number
}) {
  const { max, windowMs, visitors = 50_000, now: read = () => performance.now() } = options
  // Two generations, because finding the oldest entry of a Map is slow after many deletions.
  let recent = new Map<string, number>()
  let older = new Map<string, number>()
  let windowEnds = 0
  return (request: Pick<FastifyRequest, 'ip'>): Problem | undefined => {
    const now = read()
    if (now >= windowEnds) {
      recent.clear()
      older.clear()
      windowEnds = now + windowMs
    }
    const visitor = visitorOf(request.ip)
    const count = (recent.get(visitor) ?? older.get(visitor) ?? 0) + 1
    recent.set(visitor, count)
    if (recent.size > visitors / 2) {
      older = recent
      recent = new Map()
    }
    return count > max ? rateLimited(windowEnds - now) : undefined
  }
}
