// Written by generate.ts from the contract.

/**
 * Why the server refuses, by the name of the message that the app's owner can edit. No server sends these yet:
 * trialUsed.
 */
export type LicenseState =
  | 'appDisabled'
  | 'usernameTaken'
  | 'keyNotFound'
  | 'keyUsed'
  | 'usernameNotFound'
  | 'passMismatch'
  | 'hwidMismatch'
  | 'noActiveSubs'
  | 'hwidBlacklisted'
  | 'pausedSub'
  | 'vpnBlocked'
  | 'keyBanned'
  | 'userBanned'
  | 'sessionUnauthed'
  | 'hashCheckFail'
  | 'pausedApp'
  | 'unTooShort'
  | 'pwLeaked'
  | 'noSeats'
  | 'updatesEnded'
  | 'trialUsed'
  | 'notActivated'
