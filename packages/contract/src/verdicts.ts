import type { MessageKey } from './errors.ts'

/** Where the credentials or the key of a call are checked, among the reasons to refuse. */
const credentials = 'credentials or key'

/** The order in which reasons to refuse a program are reported; the first that applies. */
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
  'hwidBlacklisted',
  'hwidMismatch',
  'vpnBlocked',
] as const satisfies readonly (MessageKey | typeof credentials)[]
