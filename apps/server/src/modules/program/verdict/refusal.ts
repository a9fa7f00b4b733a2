import {
  type DeviceUse,
  type ErrorCode,
  type MessageKey,
  messageDefaults,
  type RefusalDetails,
} from '@keyward/contract'
import { toIsoOrNull } from '../../../core/clock.ts'
import { type Problem, problem } from '../../../core/problem.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import { endFields } from '../../entitlements/term.rules.ts'
import type { AppFacts } from '../facts/facts.ts'
import { toSituation } from './situation.ts'
import { type Refusal, verdict } from './verdict.ts'
import type { Ending, VerdictFacts } from './verdict-facts.ts'

/** What the owner gets to see of a refusal beyond its code. */
export interface RefusalContext {
  /** Only when the password or the key was right. */
  facts?: VerdictFacts
  endUserId?: string | null
  /** For the explanation alone; programs do not get it. */
  detail?: { cause?: string; [name: string]: unknown }
}

const contexts = new WeakMap<Problem, RefusalContext>()

/** Adds what the owner gets to see of a refusal. */
export function withContext(found: Problem, context: RefusalContext): Problem {
  contexts.set(found, context)
  return found
}

export const contextOf = (found: Problem): RefusalContext => contexts.get(found) ?? {}

/** Throws the refusal of a call, unless its verdict lets the program in. */
export function refuseBy(facts: VerdictFacts): void {
  const refusal = verdict(facts)
  if (refusal) throw refused(refusal)
}

export const refused = ({ code, reason, facts }: Refusal): Problem =>
  withContext(problem(code, { reason, ...detailsOf(facts) }), { facts })

/** The refusal of a call for a reason that a statement found, which its verdict could not know. */
export const refusedLater = (
  code: MessageKey,
  facts: VerdictFacts,
  more: Partial<RefusalDetails> = {},
): Problem => {
  const { details } = detailsOf(facts)
  const found = problem(code, details ? { details: { ...details, ...more } } : {})
  return withContext(found, { endUserId: facts.endUser?.id ?? null })
}

/** The `details` of a refusal: when access ends, since when it runs, and how many devices are bound. */
export function toDetails(ending: Ending, { used, limit }: DeviceUse, now: number): RefusalDetails {
  const { expiresAt } = endFields({ expires_at: ending.expiresAt, grace_days: ending.graceDays }, now)
  return {
    expiresAt,
    startedAt: toIsoOrNull(ending.startedAt),
    devices: { used, limit },
    seats: null,
    until: null,
  }
}

/** Empty before a key or password was right. */
export const detailsOf = ({ ending, device, now }: VerdictFacts): { details?: RefusalDetails } =>
  ending === null ? {} : { details: toDetails(ending, device, now) }

export const isMessageKey = (code: ErrorCode): code is MessageKey => Object.hasOwn(messageDefaults, code)

interface Refused {
  app: AppFacts
  code: MessageKey
  /** The path of the endpoint. */
  path: string | undefined
  body: unknown
  /** Null if the program is not the caller. */
  address: string | null
}

/** Notes a refusal in the activity log and returns its reference; undefined in a flood of refusals. */
export function noteRefusal(
  activity: ActivityLog,
  { app, code, path, body, address }: Refused,
  { facts, endUserId, detail }: RefusalContext = {},
): string | undefined {
  const situation = facts && toSituation(facts)
  const { username, licenseKey } = (body ?? {}) as { username?: unknown; licenseKey?: unknown }
  const subject = concernsKey.has(code) ? (licenseKey ?? username) : (username ?? licenseKey)
  return activity.note({
    ownerId: app.ownerId,
    appId: app.id,
    clientId: endUserId ?? situation?.endUserId ?? null,
    kind: 'refused',
    call: path === undefined ? null : lastName(path),
    code,
    subject: typeof subject === 'string' ? subject : null,
    address,
    detail: { ...detail, situation },
    variant: situation?.device ?? detail?.cause ?? null,
  })
}

/** `devices` of `/client/devices/:deviceId`. */
const lastName = (path: string): string | null =>
  path
    .split('/')
    .filter((part) => !part.startsWith(':'))
    .at(-1) ?? null

/** Refusals because of the key, even if the call also names a user. */
const concernsKey = new Set<MessageKey>(['keyNotFound', 'keyUsed', 'keyBanned', 'noActiveSubs'])
