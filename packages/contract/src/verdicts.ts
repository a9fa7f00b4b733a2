import type { MessageKey } from './errors.ts'

/** The position of the credentials or key check among the reasons for refusal. */
const credentials = 'credentials or key'

/** The order of the reasons for refusal; a program gets the first that applies. */
export const verdictOrder = [
  'appDisabled',
  'pausedApp',
  'hashCheckFail',
  'sessionUnauthed',
  credentials,
  'userBanned',
  'keyBanned',
  'pausedSub',
  'noActiveSubs',
  'updatesEnded',
  'hwidBlacklisted',
  'trialUsed',
  'hwidMismatch',
  'notActivated',
  'vpnBlocked',
  'noSeats',
] as const satisfies readonly (MessageKey | typeof credentials)[]
