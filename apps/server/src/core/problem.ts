import { type ErrorCode, errorFacts } from '@keyward/contract'
import { second } from './clock.ts'

export interface Issue {
  path: string
  message: string
}

/** An error response; thrown anywhere, answered by `http/errors.ts`. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly issues: Issue[] | undefined
  readonly retryAfterSeconds: number | undefined
  /** Methods that the path supports, for 405. */
  readonly allow: string | undefined
  /** The owner's reason for a refusal, which replaces `{reason}` in the text that a program gets. */
  readonly reason: string | null
  /** Facts that programs get together with the code. */
  readonly details: object | undefined
  /** What only the owner gets to see of a refusal: `program/verdict/refusal.ts` puts it there. */
  context: object | undefined

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    const facts = errorFacts(code)
    super(options.message ?? facts.message)
    this.code = code
    this.status = facts.status
    this.issues = options.issues ?? (facts.path ? [{ path: facts.path, message: this.message }] : undefined)
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allow = options.allow
    this.reason = options.reason ?? null
    this.details = options.details
  }
}

interface ProblemOptions {
  message?: string
  issues?: Issue[]
  retryAfterSeconds?: number
  allow?: string
  reason?: string | null
  details?: object
}

export const problem = (code: ErrorCode, options?: ProblemOptions): Problem => new Problem(code, options)

/** Returns what the call of a signed-in program must find; without it, the program has to sign in again. */
export function requireSession<Found>(found: Found | undefined | null | false): NonNullable<Found> {
  if (!found) throw problem('sessionUnauthed')
  return found
}

/** One invalid field, for rules that a schema cannot check. */
export const invalid = (path: string, message: string): Problem =>
  problem('invalid_input', { message, issues: [{ path, message }] })

/** Too many attempts; the next one is accepted after `waitMs`. */
export const rateLimited = (waitMs: number): Problem =>
  problem('rate_limited', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / second)) })
