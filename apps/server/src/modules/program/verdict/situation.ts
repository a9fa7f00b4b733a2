import type { MessageKey } from '@keyward/contract'
import { lastInstant } from '../../../core/clock.ts'
import { appGuards, userGuards, type VerdictFacts } from './verdict.ts'

/** Everything that a refusal can be explained with later; stored as JSON. */
export interface Situation {
  /** All guards that refuse, in reporting order: the first one is the verdict. */
  refusing: MessageKey[]
  endUserId: string | null
  licenseId: string | null
  /** The entry of the block list that names the device or the address. */
  blockId: string | null
  reason: string | null
  hwidHash: string | null
  /** `required`: no hardware id was sent, and the app requires one. `drifted`: the device is bound, but changed too often. */
  device: 'bound' | 'not bound' | 'not sent' | 'required' | 'drifted'
  devices: { used: number; limit: number }
  /** When access ends, grace days included, in milliseconds since 1970; null for never. */
  expiresAt: number | null
  /** When the program's version was released, if the license's updates end. */
  releasedAt: number | null
}

/** The guards in reporting order. */
export const allGuards = [...appGuards, ...userGuards]

export function toSituation(facts: VerdictFacts): Situation {
  const { endUser, key, caller, expiresAt, updates, device } = facts
  const refusing = allGuards.filter((guard) => guard.refuses(facts))
  return {
    refusing: refusing.map(({ code }) => code),
    endUserId: endUser?.id ?? null,
    licenseId: key?.id ?? null,
    blockId: caller.blocked?.id ?? null,
    reason: refusing[0]?.reason?.(facts) ?? null,
    hwidHash: caller.hwidHash,
    device: deviceOf(facts),
    devices: { used: device.used, limit: device.limit },
    expiresAt: expiresAt > lastInstant ? null : expiresAt,
    releasedAt: updates.releasedAt,
  }
}

function deviceOf({ app, device }: VerdictFacts): Situation['device'] {
  if (!device.isSent) return app.requireHwid ? 'required' : 'not sent'
  if (device.isBound) return 'bound'
  return device.hasDriftedTooOften ? 'drifted' : 'not bound'
}
