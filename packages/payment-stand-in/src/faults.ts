import { type ErrorBody, Refusal } from './errors.ts'

export type FaultMode = 'status' | 'hang' | 'reset' | 'lost-answer' | 'late-answer'

/** Which of the next calls fail, and how. */
export interface FaultRule {
  method?: 'GET' | 'POST'
  /** Matched against the path without the query. */
  path?: RegExp
  /** How many matching calls fail; default 1. */
  times?: number
  /**
   * - `status`: respond with an error and do nothing
   * - `hang`: do nothing until the caller times out or `release` continues the call
   * - `reset`: reset the connection and do nothing
   * - `lost-answer`: do the work and cut the connection before the response
   * - `late-answer`: do the work and hold the response until `release`
   */
  mode: FaultMode
  /** For `status`; default 500. */
  status?: number
  /** For `status`: a text instead of an error body, such as a proxy's error page. */
  body?: string
}

/** An active fault. */
export interface Fault {
  rule: FaultRule
  /** How many calls it has affected. */
  hits: number
  /** Continues calls that hang or whose response is held. */
  release(): void
  /** Resolved by `release`. */
  released: Promise<void>
}

/** The active faults; the oldest matching one applies. */
export class Faults {
  #faults: { fault: Fault; left: number }[] = []

  add(rule: FaultRule): Fault {
    const { promise, resolve } = Promise.withResolvers<void>()
    const fault: Fault = { rule, hits: 0, release: resolve, released: promise }
    this.#faults.push({ fault, left: rule.times ?? 1 })
    return fault
  }

  /** Finds the fault for this call and counts it. */
  take(method: string, path: string): Fault | undefined {
    const entry = this.#faults.find(
      ({ fault: { rule }, left }) =>
        left > 0 && (!rule.method || rule.method === method) && (!rule.path || rule.path.test(path)),
    )
    if (!entry) return undefined
    entry.left -= 1
    entry.fault.hits += 1
    return entry.fault
  }

  clear(): void {
    for (const { fault } of this.#faults) fault.release()
    this.#faults = []
  }
}

/** A server error: https://razorpay.com/docs/errors */
export function toRefusal({ status = 500 }: FaultRule): Refusal {
  const metadata = {}
  const error: ErrorBody['error'] =
    status === 502 || status === 504
      ? {
          code: 'GATEWAY_ERROR',
          description: 'The gateway did not answer the request in time.',
          source: 'gateway',
          step: 'NA',
          reason: 'gateway_technical_error',
          metadata,
        }
      : status >= 500
        ? {
            code: 'SERVER_ERROR',
            description:
              'We are facing some trouble completing your request at the moment. Please try again shortly.',
            source: 'internal',
            step: 'NA',
            reason: 'server_error',
            metadata,
          }
        : {
            code: 'BAD_REQUEST_ERROR',
            description: status === 429 ? 'Too many requests' : 'Request failed',
            source: 'NA',
            step: 'NA',
            reason: 'NA',
            metadata,
          }
  return new Refusal(status, { error })
}
