import type { MessageKey } from './errors.ts'

/** Refusals of the end user, the key or the device, after which an SDK forgets its lease; mistyped input ends none. */
export const leaseEndings: readonly MessageKey[] = [
  'userBanned',
  'keyBanned',
  'pausedSub',
  'noActiveSubs',
  'updatesEnded',
  'hwidBlacklisted',
  'hwidMismatch',
  'notActivated',
  'trialUsed',
]
