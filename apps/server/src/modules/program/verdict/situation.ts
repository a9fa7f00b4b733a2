import type { MessageKey, ProgramCall } from '@keyward/contract'
import { lastInstant } from '../../../core/clock.ts'
import { isStoppedTest } from './guards.ts'
import { callChecks } from './verdict.ts'
import type { VerdictFacts } from './verdict-facts.ts'

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
  /** When the program's version was released, if the license's updates end. */
  releasedAt: number | null
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
    releasedAt: updates.releasedAt,
  }
}

function deviceOf({ app, device }: VerdictFacts): Situation['device'] {
  if (device.isAnother) return 'another'
  if (!device.isSent) return app.requireHwid ? 'required' : 'not sent'
  if (device.isBound) return 'bound'
  return device.hasDriftedTooOften ? 'drifted' : 'not bound'
}
