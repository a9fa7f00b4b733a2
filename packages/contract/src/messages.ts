/** The texts that a vendor's program shows, by message key. Each can be changed per app. */
export const messageDefaults = {
  appDisabled: 'Application is currently disabled',
  usernameTaken: 'Username is already taken',
  keyNotFound: 'License key not found',
  keyUsed: 'License key is already in use',
  usernameNotFound: 'Username not found',
  passMismatch: 'Password does not match',
  hwidMismatch: 'Hardware ID mismatch',
  noActiveSubs: 'No active subscription found',
  hwidBlacklisted: 'Hardware ID is blacklisted',
  pausedSub: 'Subscription is paused',
  vpnBlocked: 'VPN usage is not allowed',
  keyBanned: 'License key is banned',
  userBanned: 'User account is banned',
  sessionUnauthed: 'Session is not authenticated',
  hashCheckFail: 'Hash verification failed',
  loggedInMsg: 'Successfully logged in',
  pausedApp: 'Application is currently paused',
  unTooShort: 'Username is too short',
  pwLeaked: 'Password has been compromised',
  noSeats: 'All seats are in use',
  updatesEnded: 'This version is not covered by your license',
  trialUsed: 'The trial was already used on this device',
  notActivated: 'The license is not activated on this device',
} as const

/** Messages of licensing models that an app may never use; a screen can show them as a group of their own. */
export const modelMessages: readonly (keyof typeof messageDefaults)[] = [
  'noSeats',
  'updatesEnded',
  'trialUsed',
  'notActivated',
]
