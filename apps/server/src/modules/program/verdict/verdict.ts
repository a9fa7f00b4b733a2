import {
  checksOf,
  type DeviceUse,
  type ProgramCall,
  type Reason,
  reasonsOf,
  type Subject,
  unlimited,
} from '@keyward/contract'
import { ofTestOrder } from '../../licenses/licenses.rules.ts'
import { coversVersion, isTooOld } from '../../releases/catalog.rules.ts'
import type { AppFacts } from '../facts/facts.ts'

/** Everything that decides whether a program may run; read beforehand, so that guards stay pure. */
export interface VerdictFacts {
  call: ProgramCall
  app: Pick<
    AppFacts,
    | 'isPlatformPaused'
    | 'isPaused'
    | 'hwidLock'
    | 'requireHwid'
    | 'requireActivation'
    | 'testLicenses'
    | 'minimumVersion'
    | 'releases'
  >
  /** What `init` was sent; null in other calls. */
  build: { hasSecret: boolean; isAllowed: boolean } | null
  endUser: { id: string; isBanned: boolean; banReason: string | null; isPaused: boolean } | null
  key: { id: string; isBanned: boolean; banReason: string | null; isTest: boolean } | null
  /** When access by the end user or the key ends, as the call's `noActiveSubs` says; null if neither is known. */
  ending: Ending | null
  caller: CallerFacts
  /** The program's version, if it names one, and the end of the updates that the license covers. */
  updates: { version: string | null; until: number | null }
  device: DeviceFacts
  /** Whether a trial was started on this device before. */
  isTrialStarted: boolean
  now: number
}

/** When access ends, grace days included, and since when it runs; milliseconds since 1970. */
export interface Ending {
  expiresAt: number
  graceDays: number
  startedAt: number | null
}

/** What the owner and the operator decided about a caller's device and address. */
export interface CallerFacts {
  /** The first entry of the block list that names the device or the address. */
  blocked: { id: string; reason: string | null } | null
  /** Whether the app refuses VPNs, and the address belongs to one that it does not allow. */
  isRefusedVpn: boolean
  /** Hash of the hardware id that was compared. */
  hwidHash: string | null
}

/** A machine, and how many devices are bound, of how many; -1 is unlimited. */
export interface DeviceFacts extends DeviceUse {
  /** Whether the program sent a hardware id. */
  isSent: boolean
  /** Whether it is that of a bound device. */
  isBound: boolean
  /** Whether it may not take a free place either. */
  hasDriftedTooOften?: boolean
  /** Whether it is not the machine that the session signed in on. */
  isAnother?: boolean
}

/** What a call knows; a call leaves out what it does not know or check. */
export interface Known {
  app: VerdictFacts['app']
  build?: VerdictFacts['build']
  endUser?: (NonNullable<VerdictFacts['endUser']> & Partial<Ending>) | null
  key?: (NonNullable<VerdictFacts['key']> & Ending) | null
  caller?: CallerFacts
  updates?: VerdictFacts['updates']
  device?: DeviceFacts
  isTrialStarted?: boolean
  now: number
}

/** The facts of a call, for its verdict, for the details of a refusal and for its explanation. */
export const factsOf = (call: ProgramCall, known: Known): VerdictFacts => ({
  call,
  app: known.app,
  build: known.build ?? null,
  endUser: known.endUser ?? null,
  key: known.key ?? null,
  ending: endingOf(call, known),
  caller: known.caller ?? unknownCaller,
  updates: known.updates ?? allUpdates,
  device: known.device ?? noDevice,
  isTrialStarted: known.isTrialStarted ?? false,
  now: known.now,
})

function endingOf(call: ProgramCall, { endUser, key }: Known): Ending | null {
  const ofKey = key ?? null
  if (!endUser || checksOf[call].noActiveSubs === 'key') return ofKey
  const { expiresAt, graceDays, startedAt } = endUser
  if (expiresAt === undefined || graceDays === undefined || startedAt === undefined) return ofKey
  return endUser as Ending
}

const unknownCaller: CallerFacts = { blocked: null, isRefusedVpn: false, hwidHash: null }
const allUpdates = { version: null, until: null }
const noDevice: DeviceFacts = { isSent: false, isBound: false, used: 0, limit: 1 }

/** A pure check; `checksOf` in the contract says which calls make it. */
interface Guard {
  refuses(facts: VerdictFacts, subject: Subject): boolean
  /** The owner's reason, which replaces `{reason}` in the text. */
  reason?(facts: VerdictFacts): string | null | undefined
}

/** `http/mount.ts` opens the session, and a guarded statement takes the seat. */
export type GuardCode = Exclude<Reason, 'sessionUnauthed' | 'noSeats'>

/** What is known before anything about the caller is read. */
type OfApp = Pick<VerdictFacts, 'app' | 'build'>

export const guards = {
  appDisabled: {
    refuses: ({ app, build }: OfApp) => build?.hasSecret === false || app.isPlatformPaused,
  },
  pausedApp: { refuses: ({ app }: OfApp) => app.isPaused },
  hashCheckFail: { refuses: ({ build }) => build?.isAllowed === false },
  userBanned: {
    refuses: ({ endUser }) => endUser?.isBanned === true,
    reason: ({ endUser }) => endUser?.banReason,
  },
  keyBanned: {
    refuses: (facts) => facts.key?.isBanned === true || isStoppedTest(facts),
    reason: (facts) => (isStoppedTest(facts) ? ofTestOrder : facts.key?.banReason),
  },
  pausedSub: { refuses: ({ endUser }) => endUser?.isPaused === true },
  noActiveSubs: { refuses: hasEnded },
  updatesEnded: { refuses: ({ app, updates }) => !coversVersion(app.releases, updates) },
  versionTooOld: { refuses: ({ app, updates, now }) => isTooOld(app, updates, now) },
  hwidBlacklisted: {
    refuses: ({ caller }) => caller.blocked !== null,
    reason: ({ caller }) => caller.blocked?.reason,
  },
  trialUsed: {
    refuses: (facts) =>
      facts.isTrialStarted && (facts.endUser === null || facts.key === null || hasEnded(facts)),
  },
  hwidMismatch: {
    refuses: ({ app, device }, subject) =>
      device.isAnother === true ||
      (app.requireHwid && !device.isSent) ||
      (app.hwidLock && !passesLock(device, subject === 'device')),
  },
  notActivated: { refuses: ({ app, device }) => app.requireActivation && !device.isBound },
  vpnBlocked: { refuses: ({ caller }) => caller.isRefusedVpn },
} satisfies Record<GuardCode, Guard>

/** Whether the app stops the key, which is of a test order. */
export const isStoppedTest = ({ app, key }: Pick<VerdictFacts, 'app' | 'key'>): boolean =>
  key?.isTest === true && !app.testLicenses

function hasEnded({ ending, now }: VerdictFacts): boolean {
  return ending !== null && ending.expiresAt <= now
}

/** A bound lock accepts the whole id of a bound device, or a device with a free place; a missing id never passes. */
function passesLock(device: DeviceFacts, mustBeBound: boolean): boolean {
  const { isSent, isBound, hasDriftedTooOften, used, limit } = device
  if (limit === unlimited || isBound) return true
  if (mustBeBound) return false
  return used === 0 || (isSent && hasDriftedTooOften !== true && used < limit)
}

/** A guard as one call runs it. */
interface Check {
  code: GuardCode
  refuses(facts: VerdictFacts): boolean
  reason(facts: VerdictFacts): string | null
}

const isGuarded = (code: string): code is GuardCode => Object.hasOwn(guards, code)

function toCheck(call: ProgramCall, code: GuardCode): Check {
  const guard: Guard = guards[code]
  const subject = checksOf[call][code] as Subject
  return {
    code,
    refuses: (facts) => guard.refuses(facts, subject),
    reason: (facts) => guard.reason?.(facts) ?? null,
  }
}

const calls = Object.keys(checksOf) as ProgramCall[]

/** The guards that each call runs, in reporting order. */
export const callChecks = Object.fromEntries(
  calls.map((call) => [
    call,
    reasonsOf(call)
      .filter(isGuarded)
      .map((code) => toCheck(call, code)),
  ]),
) as unknown as Record<ProgramCall, readonly Check[]>

export interface Refusal {
  code: GuardCode
  /** The owner's reason. */
  reason: string | null
  facts: VerdictFacts
}

/** Why a call is refused; undefined if it is not. The first check that refuses decides. */
export function verdict(facts: VerdictFacts): Refusal | undefined {
  for (const check of callChecks[facts.call]) {
    if (check.refuses(facts)) return { code: check.code, reason: check.reason(facts), facts }
  }
  return undefined
}

const appChecks = ['appDisabled', 'pausedApp'] as const

/** Why no program of this app may run, before anything else is read; every call makes these checks. */
export const appVerdict = (app: VerdictFacts['app']): GuardCode | undefined =>
  appChecks.find((code) => guards[code].refuses({ app, build: null }))
