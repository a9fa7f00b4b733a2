import { type ErrorCode, type MessageKey, messageDefaults } from '@keyward/contract'
import type { Problem } from '../../../core/problem.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import type { AppFacts } from '../facts/facts.ts'
import { toSituation } from './situation.ts'
import type { VerdictFacts } from './verdict.ts'

/** What is known beyond the code when a program is refused. */
export interface Behind {
  /** Only when the password or the key was right. */
  facts?: VerdictFacts
  endUserId?: string | null
  /** For the explanation alone; programs do not get it. */
  detail?: { cause?: string; [name: string]: unknown }
}

const behindOf = new WeakMap<Problem, Behind>()

/** A refusal together with what is behind it. */
export function because(found: Problem, behind: Behind): Problem {
  behindOf.set(found, behind)
  return found
}

export const behindProblem = (found: Problem): Behind => behindOf.get(found) ?? {}

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
  { facts, endUserId, detail }: Behind = {},
): string | undefined {
  const situation = facts && toSituation(facts)
  const { username, licenseKey } = (body ?? {}) as { username?: unknown; licenseKey?: unknown }
  const subject = concernsKey.has(code) ? (licenseKey ?? username) : (username ?? licenseKey)
  return activity.note({
    ownerId: app.ownerId,
    appId: app.id,
    clientId: endUserId ?? situation?.endUserId ?? null,
    kind: 'refused',
    call: path?.split('/').at(-1) ?? null,
    code,
    subject: typeof subject === 'string' ? subject : null,
    address,
    detail: { ...detail, situation },
    variant: situation?.device ?? detail?.cause ?? null,
  })
}

/** Refusals because of the key, even if the call also names a user. */
const concernsKey = new Set<MessageKey>(['keyNotFound', 'keyUsed', 'keyBanned', 'noActiveSubs'])
