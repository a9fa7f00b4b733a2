import { type ErrorBody, Refusal } from './errors.ts'

export type FaultMode = 'status' | 'hang' | 'reset' | 'lost-answer' | 'late-answer'

/** Which of the next calls go wrong, and how. */
export interface FaultRule {
  method?: 'GET' | 'POST'
  /** Tested against the path without the query. */
  path?: RegExp
  /** How many matching calls go wrong; 1 unless told otherwise. */
  times?: number
  /**
   * - `status`: an error is answered and nothing is done
   * - `hang`: nothing is done or answered until the caller gives up, or `release` lets the call go on
   * - `reset`: the connection is reset and nothing is done
   * - `lost-answer`: the work is done and the connection cut before the answer
   * - `late-answer`: the work is done and the answer kept back until `release`
   */
  mode: FaultMode
  /** For `status`; 500 unless told otherwise. */
  status?: number
  /** For `status`: a text to answer in place of an error body, such as a page of a proxy. */
  body?: string
}

/** A fault in force. */
export interface Fault {
  rule: FaultRule
  /** How many calls it has met. */
  hits: number
  /** Lets calls that hang or whose answer is kept back go on. */
  release(): void
  /** Settled by `release`. */
  released: Promise<void>
}

/** The faults in force, first come first met. */
export class Faults {
  #faults: { fault: Fault; left: number }[] = []

  add(rule: FaultRule): Fault {
    const { promise, resolve } = Promise.withResolvers<void>()
    const fault: Fault = { rule, hits: 0, release: resolve, released: promise }
    this.#faults.push({ fault, left: rule.times ?? 1 })
    return fault
  }

  /** The fault that this call meets, counted. */
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

/** An error that is not the caller's: https://razorpay.com/docs/errors */
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
