import type { ActivityEvent, Fix, MessageKey } from '@keyward/contract'
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
  hwidBlacklisted: 'Device or address blocked',
  trialUsed: 'Trial used',
  hwidMismatch: 'Another device',
  notActivated: 'Device not activated',
  vpnBlocked: 'VPN',
  noSeats: 'All seats in use',
} satisfies Record<Exclude<MessageKey, 'loggedInMsg'>, string>

/** The value of the filter in a URL: a reason, `any` for all refusals, else no filter. */
export const toCode = (text: string | undefined): MessageKey | 'any' | undefined =>
  text === 'any' || (text !== undefined && Object.hasOwn(reasons, text))
    ? (text as MessageKey | 'any')
    : undefined

const kinds: Record<string, string> = {
  init: 'Program started',
  dropped: 'Too many events to keep',
  'end_user.registered': 'Registered',
  'end_user.signed_in': 'Signed in',
  'end_user.signed_out': 'Signed out',
  'end_user.lease_issued': 'Offline lease issued',
  'license.redeemed': 'License redeemed',
  'licenses.created': 'Trial license created',
  'device.bound': 'Device bound',
  'device.drifted': 'Device recognized after a change',
  'device.remembered': 'Sign-in remembered',
  'device.forgotten': 'Remembered sign-in ended',
  'device.freed': 'Device freed',
  'end_user.activated_offline': 'Activated offline',
  'end_user.deactivated_offline': 'Deactivated offline',
}

/** An action that a newer server records is shown by its name. */
export function labelOf({ kind, code }: ActivityEvent): string {
  if (code) return reasons[code] ?? code
  return kinds[kind] ?? kind.replaceAll(/[._]/g, ' ')
}

/** Who caused an event, as far as it is known. */
export function userOf({ client, gathered, kind, subject }: ActivityEvent): string | undefined {
  if (client) return client.username
  if (gathered) return 'Several calls'
  return (kind === 'init' ? `Version ${subject}` : subject) ?? undefined
}

export const toneOf = ({ kind, code }: ActivityEvent): Tone =>
  code ? 'danger' : kind === 'dropped' ? 'warning' : 'neutral'

export const checkLabel = (code: MessageKey): string => reasons[code] ?? code

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
