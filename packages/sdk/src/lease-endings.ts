// Written by packages/sdk/generate.ts from the contract.

/** Refusals of the user, the key or the device; mistyped input is not one. */
export const leaseEndings = new Set<string>([
  'userBanned',
  'keyBanned',
  'pausedSub',
  'noActiveSubs',
  'updatesEnded',
  'hwidBlacklisted',
  'hwidMismatch',
  'notActivated',
  'trialUsed',
])
