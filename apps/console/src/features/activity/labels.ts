import type {
  ActivityEvent,
  ActivityFilterKind,
  ActivityKind,
  Fix,
  MessageKey,
  RefusalState,
} from '@keyward/contract'
import { formatMoment } from '../../lib/format/dates.ts'
import { shortIfKey } from '../../lib/format/end-user-name.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import type { Tone } from '../../ui/badge.tsx'

/** Reasons for refusal in the words of an owner, for the filter and the list. */
export const reasons: Partial<Record<MessageKey, string>> = {
  appDisabled: 'Application disabled',
  pausedApp: 'Application paused',
  hashCheckFail: 'Build not allowed',
  sessionUnauthed: 'No valid session',
  usernameNotFound: 'Unknown username',
  passMismatch: 'Wrong password',
  keyNotFound: 'Unknown license key',
  keyUsed: 'License key in use',
  usernameTaken: 'Username taken',
  unTooShort: 'Username too short',
  pwLeaked: 'Leaked password',
  userBanned: 'User banned',
  keyBanned: 'License banned',
  pausedSub: 'User paused',
  noActiveSubs: 'Expired',
  updatesEnded: 'Updates ended',
  versionTooOld: 'Version too old',
  hwidBlacklisted: 'Device or address blocked',
  trialUsed: 'Trial used',
  hwidMismatch: 'Another device',
  notActivated: 'Device not activated',
  vpnBlocked: 'VPN',
  noSeats: 'All seats in use',
} satisfies Record<Exclude<MessageKey, 'loggedInMsg'>, string>

/** What a passed check found. Some also pass where nothing is required. */
const passes: Partial<Record<MessageKey, string>> = {
  appDisabled: 'Application not disabled',
  pausedApp: 'Application not paused',
  hashCheckFail: 'Build allowed',
  sessionUnauthed: 'Session valid',
  usernameNotFound: 'Username known',
  passMismatch: 'Password not wrong',
  keyNotFound: 'License key known',
  keyUsed: 'License key not used by another user',
  usernameTaken: 'Username not taken',
  unTooShort: 'Username long enough',
  pwLeaked: 'Password not leaked',
  userBanned: 'User not banned',
  keyBanned: 'License not banned',
  pausedSub: 'User not paused',
  noActiveSubs: 'Not expired',
  updatesEnded: 'Version covered by updates',
  versionTooOld: 'Version new enough',
  hwidBlacklisted: 'Device and address not blocked',
  trialUsed: 'No trial used before',
  hwidMismatch: 'Device allowed',
  notActivated: 'No activation missing',
  vpnBlocked: 'No blocked VPN',
  noSeats: 'Seat free, or none needed',
} satisfies Record<Exclude<MessageKey, 'loggedInMsg'>, string>

/** The value of the filter in a URL: a reason, `any` for all refusals, else no filter. */
const toCode = (text: string | undefined): MessageKey | 'any' | undefined =>
  text === 'any' || (text !== undefined && Object.hasOwn(reasons, text))
    ? (text as MessageKey | 'any')
    : undefined

const kinds = {
  init: 'Program started',
  dropped: 'Too many events to keep',
  'end_user.registered': 'Registered',
  'end_user.moved': 'Moved from the old provider',
  'end_user.signed_in': 'Signed in',
  'end_user.signed_out': 'Signed out',
  'end_user.lease_issued': 'Offline lease issued',
  'license.redeemed': 'License redeemed',
  'licenses.created': 'Trial license created',
  'device.bound': 'Device bound',
  'device.drifted': 'Device recognized after a change',
  'device.remembered': 'Sign-in remembered',
  'program.logged': 'Message of a program',
  'device.forgotten': 'Remembered sign-in ended',
  'device.freed': 'Device freed',
  'end_user.activated_offline': 'Activated offline',
  'end_user.deactivated_offline': 'Deactivated offline',
} satisfies Record<ActivityKind, string>

/** What the filter of a URL asks for: a kind of event, a reason for refusal, or `any` for all refusals. */
export function toEventFilter(text: string | undefined): {
  kind?: ActivityFilterKind
  code?: MessageKey | 'any'
} {
  if (text === 'activations') return { kind: text }
  if (text !== undefined && Object.hasOwn(kinds, text)) return { kind: text as ActivityKind }
  const code = toCode(text)
  return code === undefined ? {} : { code }
}

/** All events, for the filter. */
export const eventOptions = [
  { value: 'activations', label: 'Activations' },
  { value: 'any', label: 'All refusals' },
  ...Object.entries(kinds).map(([value, label]) => ({ value, label })),
  ...Object.entries(reasons).map(([value, label]) => ({ value, label: `Refused: ${label}` })),
]

/** An action that a newer server records is shown by its name. */
export function labelOf({ kind, code }: ActivityEvent): string {
  if (code) return reasons[code] ?? code
  return (kinds as Record<string, string>)[kind] ?? kind.replaceAll(/[._]/g, ' ')
}

/** Who caused an event, as far as it is known. */
export function userOf({ client, gathered, kind, subject }: ActivityEvent): string | undefined {
  if (client) return client.name ?? keyPrefix(client.username)
  if (gathered) return 'Several calls'
  if (kind === 'init') return `Version ${subject}`
  return subject === null ? undefined : shortIfKey(subject)
}

export const toneOf = ({ kind, code }: ActivityEvent): Tone =>
  code ? 'danger' : kind === 'dropped' ? 'warning' : 'neutral'

export const checkLabel = (code: MessageKey): string => reasons[code] ?? code
export const passLabel = (code: MessageKey): string => passes[code] ?? `Not: ${code}`

export const fixLabels: Record<Fix['action'], string> = {
  resume_platform: 'Resume all applications',
  resume_app: 'Resume the application',
  allow_hash: 'Allow this build',
  unban_client: 'Unban the user',
  unban_license: 'Unban the license',
  resume_client: 'Resume the user',
  extend_client: 'Extend by 30 days',
  extend_license: 'Extend by 30 days',
  unblock: 'Remove from the block list',
  reset_hwid: 'Reset HWID',
  allow_address: 'Allow this address',
}

/** The sentence of an explanation, which names the end in UTC, in the reader's time. */
export const whyOf = ({ why, before }: { why: string; before: RefusalState }) =>
  before.expiresAt === null
    ? why
    : why.replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, formatMoment(before.expiresAt))
