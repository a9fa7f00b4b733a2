import { type MessageKey, unlimited } from '@keyward/contract'
import type { AppFacts } from '../facts/facts.ts'

/** Everything that decides whether a program may run; read beforehand, so that guards stay pure. */
export interface VerdictFacts {
  app: Pick<AppFacts, 'isPlatformPaused' | 'isPaused' | 'hwidLock' | 'requireHwid'>
  endUser: { id: string; isBanned: boolean; banReason: string | null; isPaused: boolean } | null
  key: { id: string; isBanned: boolean; banReason: string | null } | null
  caller: CallerFacts
  /** When the app released the program's version, and the end of the updates that the license covers. */
  updates: { releasedAt: number | null; until: number | null }
  /** When access by the end user, or by the unused key, ends, grace days included; milliseconds since 1970. */
  expiresAt: number
  device: DeviceFacts
  /** Whether `validate` accepts only machines that are bound. */
  mustBeActivated: boolean
  now: number
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

export interface DeviceFacts {
  /** Whether the program sent a hardware id. */
  isSent: boolean
  /** Whether it is that of a bound device. */
  isBound: boolean
  /** Whether it may not take a free place either. */
  hasDriftedTooOften?: boolean
  /** How many devices are bound. */
  used: number
  /** How many may be bound; -1 for unlimited. */
  limit: number
}

interface Guard<Facts> {
  code: MessageKey
  refuses(facts: Facts): boolean
  /** The owner's reason, which replaces `{reason}` in the text. */
  reason?(facts: Facts): string | null | undefined
}

/** Guards on the app alone, in reporting order. */
export const appGuards: readonly Guard<Pick<VerdictFacts, 'app'>>[] = [
  { code: 'appDisabled', refuses: ({ app }) => app.isPlatformPaused },
  { code: 'pausedApp', refuses: ({ app }) => app.isPaused },
]

/** Guards on the end user or key, in reporting order; they follow the guards on the app. */
export const userGuards: readonly Guard<VerdictFacts>[] = [
  {
    code: 'userBanned',
    refuses: ({ endUser }) => endUser?.isBanned === true,
    reason: ({ endUser }) => endUser?.banReason,
  },
  {
    code: 'keyBanned',
    refuses: ({ key }) => key?.isBanned === true,
    reason: ({ key }) => key?.banReason,
  },
  { code: 'pausedSub', refuses: ({ endUser }) => endUser?.isPaused === true },
  { code: 'noActiveSubs', refuses: ({ expiresAt, now }) => expiresAt <= now },
  { code: 'updatesEnded', refuses: ({ updates }) => !coversVersion(updates) },
  {
    code: 'hwidBlacklisted',
    refuses: ({ caller }) => caller.blocked !== null,
    reason: ({ caller }) => caller.blocked?.reason,
  },
  {
    code: 'hwidMismatch',
    refuses: ({ app, device }) =>
      (app.requireHwid && !device.isSent) || (app.hwidLock && !passesLock(device)),
  },
  { code: 'notActivated', refuses: ({ mustBeActivated, device }) => mustBeActivated && !device.isBound },
  { code: 'vpnBlocked', refuses: ({ caller }) => caller.isRefusedVpn },
]

export interface Refusal {
  code: MessageKey
  /** The owner's reason. */
  reason: string | null
  facts: VerdictFacts
}

/** Why no program of this app may run; undefined if it may. */
export const appVerdict = (app: VerdictFacts['app']): MessageKey | undefined =>
  appGuards.find((guard) => guard.refuses({ app }))?.code

/** Why this end user or key may not run the program; undefined if it may. */
export function userVerdict(facts: VerdictFacts): Refusal | undefined {
  const guard = userGuards.find((one) => one.refuses(facts))
  return guard && { code: guard.code, reason: guard.reason?.(facts) ?? null, facts }
}

/** A version that the app does not list is covered. */
const coversVersion = ({ releasedAt, until }: VerdictFacts['updates']): boolean =>
  releasedAt === null || until === null || releasedAt <= until

/** A bound lock accepts the whole id of a bound device, or a device with a free place; a missing id never passes. */
function passesLock({ isSent, isBound, hasDriftedTooOften, used, limit }: DeviceFacts): boolean {
  if (limit === unlimited || isBound) return true
  return used === 0 || (isSent && hasDriftedTooOften !== true && used < limit)
}
