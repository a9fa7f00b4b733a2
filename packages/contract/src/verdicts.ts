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
  'versionTooOld',
  'hwidBlacklisted',
  'trialUsed',
  'hwidMismatch',
  'notActivated',
  'vpnBlocked',
  'noSeats',
] as const satisfies readonly (MessageKey | typeof credentials)[]

/** A reason for refusal that the table below decides on; credentials and keys are found by each call itself. */
export type Reason = Exclude<(typeof verdictOrder)[number], typeof credentials>

/**
 * What a check looks at. `end user` is the key while it has no end user. `key` is the key that the call names, otherwise
 * the first license. A `device` must be bound; for a `caller` a free place is enough.
 */
export type Subject = 'app' | 'build' | 'end user' | 'key' | 'device' | 'caller'

/** What a check looks at in a call, or why the call does not make it. */
export type Applies = Subject | { not: string }

type Checks = { appDisabled: 'app'; pausedApp: 'app' } & Record<Reason, Applies>

const signIn = {
  appDisabled: 'app',
  pausedApp: 'app',
  hashCheckFail: { not: 'The build was checked when the session was opened.' },
  sessionUnauthed: 'caller',
  userBanned: 'end user',
  keyBanned: 'key',
  pausedSub: 'end user',
  noActiveSubs: 'end user',
  updatesEnded: 'key',
  versionTooOld: 'key',
  hwidBlacklisted: 'caller',
  trialUsed: { not: 'The call starts no trial.' },
  hwidMismatch: 'caller',
  notActivated: { not: 'A sign-in binds the machine itself.' },
  vpnBlocked: 'caller',
  noSeats: 'end user',
} as const satisfies Checks

const noOneSignedIn = { not: 'No one has signed in yet.' }
const opensNoSession = { not: 'The call opens no session, so it takes no seat.' }
const noSession = { not: 'The call needs no session.' }
const newUser = { not: 'The call creates the end user.' }
const noVersion = { not: 'The call names no version of the program.' }
const anyVersion = { not: 'A key adds its time to any version; the next sign-in is checked.' }
const anyLicense = {
  noActiveSubs: { not: 'A license that has ended still gets what was out before.' },
  updatesEnded: { not: 'The call says what the license covers.' },
  versionTooOld: { not: 'The call says what to update to.' },
  noSeats: { not: 'The call takes no seat.' },
}
const alwaysAllowed = { not: 'Every program may end its session.' }

/** For each call of a program, what each check looks at, or why the call does not make it. */
export const checksOf = {
  init: {
    ...signIn,
    hashCheckFail: 'build',
    sessionUnauthed: { not: 'The call opens the session.' },
    userBanned: noOneSignedIn,
    keyBanned: noOneSignedIn,
    pausedSub: noOneSignedIn,
    noActiveSubs: noOneSignedIn,
    updatesEnded: noOneSignedIn,
    versionTooOld: noOneSignedIn,
    hwidBlacklisted: { not: 'The sign-in is refused; until then the program can show its messages.' },
    hwidMismatch: noOneSignedIn,
    vpnBlocked: { not: 'The sign-in is refused; until then the program can show its messages.' },
    noSeats: noOneSignedIn,
  },
  register: {
    ...signIn,
    userBanned: newUser,
    pausedSub: newUser,
    noActiveSubs: 'key',
    noSeats: { not: 'All seats of an unused key are free.' },
  },
  login: signIn,
  license: signIn,
  resume: signIn,
  trial: {
    ...signIn,
    noActiveSubs: { not: 'A trial that has ended is used: `trialUsed`.' },
    trialUsed: 'end user',
  },
  upgrade: {
    ...signIn,
    noActiveSubs: 'key',
    updatesEnded: anyVersion,
    versionTooOld: anyVersion,
    hwidMismatch: { not: 'A key can be added from any machine; the call binds none.' },
    noSeats: opensNoSession,
  },
  session: signIn,
  updates: { ...signIn, ...anyLicense },
  /** `updates` for a key, and for a remembered sign-in, without a session on a machine. */
  updatesByKey: {
    ...signIn,
    ...anyLicense,
    sessionUnauthed: noSession,
    hwidMismatch: { not: 'The call names no machine, and runs nothing.' },
  },
  lease: { ...signIn, hwidMismatch: 'device' },
  devices: { ...signIn, noSeats: { not: 'The call takes no seat.' } },
  freeDevice: { ...signIn, noSeats: { not: 'The call takes no seat.' } },
  logout: {
    ...signIn,
    userBanned: alwaysAllowed,
    keyBanned: alwaysAllowed,
    pausedSub: alwaysAllowed,
    noActiveSubs: alwaysAllowed,
    updatesEnded: alwaysAllowed,
    versionTooOld: alwaysAllowed,
    hwidBlacklisted: alwaysAllowed,
    hwidMismatch: alwaysAllowed,
    vpnBlocked: alwaysAllowed,
    noSeats: alwaysAllowed,
  },
  validate: {
    ...signIn,
    sessionUnauthed: noSession,
    noActiveSubs: 'key',
    updatesEnded: noVersion,
    versionTooOld: noVersion,
    notActivated: 'device',
    noSeats: opensNoSession,
  },
  /** `validate` with `activate`, until the machine is bound. */
  activate: {
    ...signIn,
    sessionUnauthed: noSession,
    noActiveSubs: 'key',
    updatesEnded: noVersion,
    versionTooOld: noVersion,
    notActivated: { not: 'The call activates the machine, and is then checked like `validate`.' },
    noSeats: opensNoSession,
  },
  /** The owner makes a file for a machine that is never online. */
  offlineActivation: {
    ...signIn,
    sessionUnauthed: noSession,
    updatesEnded: noVersion,
    versionTooOld: noVersion,
    vpnBlocked: { not: 'The address of the machine is not known.' },
    noSeats: { not: 'Floating licenses get no file.' },
  },
} as const satisfies Record<string, Checks>

export type ProgramCall = keyof typeof checksOf

/** The reasons for which a call can be refused by a check, in reporting order. */
export const reasonsOf = (call: ProgramCall): Reason[] =>
  verdictOrder.filter(
    (reason) => reason !== credentials && typeof checksOf[call][reason] === 'string',
  ) as Reason[]
