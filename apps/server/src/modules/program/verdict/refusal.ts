import {
  type DeviceUse,
  type ErrorCode,
  type MessageKey,
  messageDefaults,
  type ProgramCall,
  type RefusalDetails,
  unlimited,
} from '@keyward/contract'
import { lastInstant, toIsoOrNull } from '../../../core/clock.ts'
import { type Problem, problem } from '../../../core/problem.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import { endFields } from '../../entitlements/terms.rules.ts'
import type { Linked } from '../../licenses/buy-links.ts'
import { adviseOn, newestCovered } from '../../releases/catalog.rules.ts'
import type { AppFacts } from '../facts/facts.ts'
import {
  callChecks,
  type Ending,
  isStoppedTest,
  type Refusal,
  type VerdictFacts,
  verdict,
} from './verdict.ts'

/** What the owner gets to see of a refusal beyond its code. */
export interface RefusalContext {
  /** Only when the password or the key was right. */
  facts?: VerdictFacts
  endUserId?: string | null
  /** For the explanation alone; programs do not get it. */
  detail?: { cause?: string; [name: string]: unknown }
  /** Whose links the program gets. */
  linked?: Linked | undefined
}

/** Adds what the owner gets to see of a refusal. */
export function withContext(found: Problem, context: RefusalContext): Problem {
  found.context = context
  return found
}

export const contextOf = (found: Problem): RefusalContext => found.context ?? {}

/** Throws the refusal of a call, unless its verdict lets the program in. */
export function refuseBy(facts: VerdictFacts): void {
  const refusal = verdict(facts)
  if (refusal) throw refused(refusal)
}

export const refused = ({ code, reason, facts }: Refusal): Problem =>
  withContext(problem(code, { reason, ...detailsOf(facts, code) }), { facts, linked: linkedBy(code, facts) })

/** The refusal of a call for a reason that a statement found, which its verdict could not know. */
export const refusedLater = (
  code: MessageKey,
  facts: VerdictFacts,
  more: Partial<RefusalDetails> = {},
): Problem => {
  const { details } = detailsOf(facts, code)
  const found = problem(code, details ? { details: { ...details, ...more } } : {})
  return withContext(found, { endUserId: facts.endUser?.id ?? null, linked: linkedBy(code, facts) })
}

/** Reasons that a payment can end. */
const payable = new Set<MessageKey>([
  ...(['noActiveSubs', 'updatesEnded', 'versionTooOld', 'noSeats', 'trialUsed', 'hwidMismatch'] as const),
])
/** These calls are frequent, and their programs know the links since their sign-in. */
const unlinked = new Set<ProgramCall>(['session', 'validate', 'activate'])

/** Whose links come with a refusal; undefined without any. */
function linkedBy(code: MessageKey, { call, endUser, key, device }: VerdictFacts): Linked | undefined {
  if (!payable.has(code) || unlinked.has(call)) return undefined
  const isFull = !device.isBound && device.isAnother !== true && device.used >= device.limit
  if (code === 'hwidMismatch' && (!isFull || device.limit === unlimited)) return undefined
  if (endUser) return { clientId: endUser.id }
  return key ? { licenseId: key.id } : undefined
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
export function detailsOf(facts: VerdictFacts, code: MessageKey): { details?: RefusalDetails } {
  const { app, ending, device, updates, now } = facts
  if (ending === null) return {}
  const advice = adviseOn(app.releases, updates.version, now)
  return {
    details: {
      ...toDetails(ending, device, now),
      ...(ofVersion.has(code) && { release: usableRelease(facts) }),
      ...(advice && { advisory: advice.advisory }),
    },
  }
}

/** Refusals because of the program's version. */
const ofVersion: ReadonlySet<MessageKey> = new Set(['updatesEnded', 'versionTooOld'])

/** The newest release that the license may use. */
function usableRelease({ app, updates, now }: VerdictFacts): RefusalDetails['release'] {
  const release = newestCovered(app.releases, updates.until, now, 'stable')
  return release ? { version: release.version, url: release.link } : null
}

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

/** The call of a stored refusal; rows of earlier versions name the end of its path. */
export function callOf(situation: Situation, path: string | null): ProgramCall {
  if (situation.call !== undefined) return situation.call
  if (path === 'offline-activations') return 'offlineActivation'
  // Earlier versions stored no `activate`: then a missing activation is a reason only if it was one before.
  if (path === 'validate' && !situation.refusing.includes('notActivated')) return 'activate'
  return path !== null && Object.hasOwn(callChecks, path) ? (path as ProgramCall) : 'session'
}

/** The codes of the checks that a call makes, in reporting order. */
export const codesOf = (call: ProgramCall): MessageKey[] => callChecks[call].map(({ code }) => code)

/** Everything that a refusal can be explained with later; stored as JSON. */
export interface Situation {
  /** Missing in rows of earlier versions. */
  call?: ProgramCall
  /** All checks that refuse, in reporting order: the first one is the verdict. */
  refusing: MessageKey[]
  endUserId: string | null
  licenseId: string | null
  /** Whether the app stops the license, which is of a test order; missing in rows of earlier versions. */
  isStoppedTest?: boolean
  /** The entry of the block list that names the device or the address. */
  blockId: string | null
  reason: string | null
  hwidHash: string | null
  /**
   * `required`: no hardware id was sent, and the app requires one. `drifted`: the device is bound, but changed too often.
   * `another`: it is not the device that signed in.
   */
  device: 'bound' | 'not bound' | 'not sent' | 'required' | 'drifted' | 'another'
  devices: { used: number; limit: number }
  /** When access ends, grace days included, in milliseconds since 1970; null for never. */
  expiresAt: number | null
  /** The program's version, if it named one; missing in rows of earlier versions. */
  version?: string | null
  /** When that was released, in rows of earlier versions. */
  releasedAt?: number | null
}

export function toSituation(facts: VerdictFacts): Situation {
  const { call, endUser, key, caller, ending, updates, device } = facts
  const refusing = callChecks[call].filter((check) => check.refuses(facts))
  return {
    call,
    refusing: refusing.map(({ code }) => code),
    endUserId: endUser?.id ?? null,
    licenseId: key?.id ?? null,
    isStoppedTest: isStoppedTest(facts),
    blockId: caller.blocked?.id ?? null,
    reason: refusing[0]?.reason(facts) ?? null,
    hwidHash: caller.hwidHash,
    device: deviceOf(facts),
    devices: { used: device.used, limit: device.limit },
    expiresAt: ending === null || ending.expiresAt > lastInstant ? null : ending.expiresAt,
    version: updates.version,
  }
}

function deviceOf({ app, device }: VerdictFacts): Situation['device'] {
  if (device.isAnother) return 'another'
  if (!device.isSent) return app.requireHwid ? 'required' : 'not sent'
  if (device.isBound) return 'bound'
  return device.hasDriftedTooOften ? 'drifted' : 'not bound'
}
