import { checksOf, type DeviceUse, type ProgramCall } from '@keyward/contract'
import type { AppFacts } from '../facts/facts.ts'

/** Everything that decides whether a program may run; read beforehand, so that guards stay pure. */
export interface VerdictFacts {
  call: ProgramCall
  app: Pick<
    AppFacts,
    'isPlatformPaused' | 'isPaused' | 'hwidLock' | 'requireHwid' | 'requireActivation' | 'testLicenses'
  >
  /** What `init` was sent; null in other calls. */
  build: { hasSecret: boolean; isAllowed: boolean } | null
  endUser: { id: string; isBanned: boolean; banReason: string | null; isPaused: boolean } | null
  key: { id: string; isBanned: boolean; banReason: string | null; isTest: boolean } | null
  /** When access by the end user or the key ends, as the call's `noActiveSubs` says; null if neither is known. */
  ending: Ending | null
  caller: CallerFacts
  /** When the app released the program's version, and the end of the updates that the license covers. */
  updates: { releasedAt: number | null; until: number | null }
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
interface Known {
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
const allUpdates = { releasedAt: null, until: null }
const noDevice: DeviceFacts = { isSent: false, isBound: false, used: 0, limit: 1 }
