import { type Reason, type Subject, unlimited } from '@keyward/contract'
import { ofTestOrder } from '../../licenses/licenses.rules.ts'
import type { DeviceFacts, VerdictFacts } from './verdict-facts.ts'

/** A pure check; `checksOf` in the contract says which calls make it. */
export interface Guard {
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
  updatesEnded: { refuses: ({ updates }) => !coversVersion(updates) },
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

/** A version that the app does not list is covered. */
const coversVersion = ({ releasedAt, until }: VerdictFacts['updates']): boolean =>
  releasedAt === null || until === null || releasedAt <= until

/** A bound lock accepts the whole id of a bound device, or a device with a free place; a missing id never passes. */
function passesLock(device: DeviceFacts, mustBeBound: boolean): boolean {
  const { isSent, isBound, hasDriftedTooOften, used, limit } = device
  if (limit === unlimited || isBound) return true
  if (mustBeBound) return false
  return used === 0 || (isSent && hasDriftedTooOften !== true && used < limit)
}
