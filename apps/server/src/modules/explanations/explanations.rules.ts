import {
  checksOf,
  type Fix,
  type MessageKey,
  type Reason,
  type RefusalState,
  type Subject,
} from '@keyward/contract'
import { toIsoOrNull } from '../../core/clock.ts'
import { codesOf, type Situation } from '../program/program.service.ts'

/** What is known about a refusal. */
export interface Refused {
  code: MessageKey
  appId: string
  /** The username or key that the program sent. */
  subject: string | null
  address: string | null
  situation: Situation | undefined
  detail: { cause?: string; version?: string; hash?: string | null }
}

interface Texts {
  title: string
  why(refused: Refused): string
  advice: string | ((refused: Refused) => string)
  fix?(refused: Refused): Fix | null
}

const named = (subject: string | null) => (subject === null ? '' : ` ${subject}`)
const reasonOf = ({ situation }: Refused) => (situation?.reason ? ` Your reason: ${situation.reason}.` : '')
const fixOf = (action: Fix['action'], target: string | null | undefined, value: string | null = null) =>
  target ? { action, target, value } : null

/** Whether the check of the refused call looks at this. */
const judges = ({ situation }: Refused, code: Reason, subject: Subject): boolean =>
  situation?.call !== undefined && checksOf[situation.call][code] === subject

const explanations: Record<MessageKey, Texts> = {
  appDisabled: {
    title: 'The application was disabled',
    why: ({ detail }) =>
      detail.cause === 'secret'
        ? 'The program sent a secret that is not the secret of this application.'
        : 'You had paused all applications in Settings.',
    advice: 'Resume applications, or build the program with the current secret.',
    fix: ({ detail, appId }) => (detail.cause === 'secret' ? null : fixOf('resume_platform', appId)),
  },
  pausedApp: {
    title: 'The application was paused',
    why: () => 'You had paused this application, so none of its programs could run.',
    advice: 'Resume the application.',
    fix: ({ appId }) => fixOf('resume_app', appId),
  },
  hashCheckFail: {
    title: 'The build was not allowed',
    why: ({ detail }) =>
      detail.hash
        ? `The program reported version ${detail.version} with a hash that is not on the list of allowed hashes.`
        : `The program reported version ${detail.version} without a hash.`,
    advice: 'Allow this build only if it is yours: a changed program has another hash.',
    fix: ({ appId, detail }) =>
      detail.hash ? fixOf('allow_hash', appId, JSON.stringify([detail.version, detail.hash])) : null,
  },
  sessionUnauthed: {
    title: 'There was no valid session',
    why: () =>
      'The session had ended, or the program was not signed in: after 24 hours without use, a sign-out, a new secret or the deletion of the end user. A remembered sign-in also ends after the days that the application sets, and when its device is freed.',
    advice: 'The program can sign in again.',
  },
  usernameNotFound: {
    title: 'The username was unknown',
    why: ({ subject }) => `This application had no end user${named(subject)}.`,
    advice: 'Check the spelling, or that the end user registered in this application.',
  },
  passMismatch: {
    title: 'The password was wrong',
    why: ({ subject }) => `The password of${named(subject) || ' this end user'} did not match.`,
    advice:
      'The end user can try again. For a forgotten password, delete the end user: its keys can then be registered again with a new password.',
  },
  keyNotFound: {
    title: 'The license key was unknown',
    why: ({ subject }) => `This application had no license${named(subject)}.`,
    advice:
      'Check the spelling, or whether the license belongs to another application. A deleted one can be created again with the same key, where custom keys are allowed.',
  },
  keyUsed: {
    title: 'The license key was already used',
    why: ({ subject }) => `The license${named(subject)} belonged to an end user already.`,
    advice:
      'Its end user can go on: with username and password, or with the first key if this one only added time. Anyone else needs another key.',
  },
  usernameTaken: {
    title: 'The username was taken',
    why: ({ subject }) =>
      `This application already had an end user${named(subject)}, or one whose name looks the same.`,
    advice: 'Choose another username, or sign in.',
  },
  unTooShort: {
    title: 'The username was too short',
    why: () => 'It had fewer characters than this application requires.',
    advice: 'Choose a longer username, or lower the minimum in App Settings.',
  },
  pwLeaked: {
    title: 'The password was known to attackers',
    why: () => 'The password is on a list of common or leaked passwords, which this application checks.',
    advice: 'Choose another password.',
  },
  userBanned: {
    title: 'The end user was banned',
    why: (refused) => `You had banned this end user.${reasonOf(refused)}`,
    advice: 'Lift the ban to let the end user in.',
    fix: ({ situation }) => fixOf('unban_client', situation?.endUserId),
  },
  keyBanned: {
    title: 'The license was banned',
    why: (refused) => `You had banned the license.${reasonOf(refused)}`,
    advice: 'Lift the ban to let its end user in.',
    fix: ({ situation }) => fixOf('unban_license', situation?.licenseId),
  },
  pausedSub: {
    title: 'The end user was paused',
    why: () => 'You had paused this end user. The remaining time is kept.',
    advice: 'Resume the end user.',
    fix: ({ situation }) => fixOf('resume_client', situation?.endUserId),
  },
  noActiveSubs: {
    title: 'The time had ended',
    why: ({ situation }) => {
      if (situation?.expiresAt == null) return 'The license had expired.'
      const end = new Date(situation.expiresAt).toISOString().slice(0, 16).replace('T', ' ')
      const hasLicense = situation.licenseId !== null || situation.endUserId === null
      return `Access ended on ${end} UTC.${hasLicense ? '' : ' The end user had no license, or it was deleted.'}`
    },
    advice: 'Extend it to let the end user in.',
    fix: (refused) => {
      const { situation } = refused
      const ofClient = judges(refused, 'noActiveSubs', 'key')
        ? null
        : fixOf('extend_client', situation?.endUserId)
      return ofClient ?? fixOf('extend_license', situation?.licenseId)
    },
  },
  hwidBlacklisted: {
    title: 'The device or address was blocked',
    why: (refused) =>
      `The device, or the address ${refused.address ?? ''}, is on your block list.${reasonOf(refused)}`,
    advice: 'Remove the entry from the block list.',
    fix: ({ situation }) => fixOf('unblock', situation?.blockId),
  },
  hwidMismatch: {
    title: 'The device was not accepted',
    why: ({ situation }) => {
      if (situation?.device === 'required')
        return 'The program sent no hardware id, which this application requires.'
      if (situation?.device === 'not sent')
        return 'The program sent no hardware id, but the license is bound to a device.'
      if (situation?.device === 'drifted')
        return 'The device was recognized, but it changed too often within the cooldown of this application.'
      if (situation?.device === 'another')
        return 'The program named another device than the one that it signed in on.'
      const { used = 1, limit = 1 } = situation?.devices ?? {}
      return `The license was bound to ${used} of ${limit} ${limit === 1 ? 'device' : 'devices'}, and this was not one of them.`
    },
    advice: (refused) => {
      const { situation } = refused
      if (situation?.device === 'required' || situation?.device === 'not sent')
        return 'Let the program send the hardware id of its device.'
      if (situation?.device === 'another' || judges(refused, 'hwidMismatch', 'device'))
        return 'Let the program sign in again on this device, which binds it if a place is free.'
      return 'Reset the HWID if the end user changed devices: the next sign-in binds the new one.'
    },
    fix: (refused) => {
      const { situation } = refused
      const needsSignIn = situation?.device === 'another' || judges(refused, 'hwidMismatch', 'device')
      if (needsSignIn || situation?.device === 'required') return null
      return fixOf('reset_hwid', situation?.endUserId)
    },
  },
  vpnBlocked: {
    title: 'The address belonged to a VPN',
    why: ({ address }) =>
      `${address ?? 'The address'} is in a network of a VPN provider, and this application refuses those.`,
    advice: 'Allow the address if you trust it.',
    fix: ({ appId, address }) => fixOf('allow_address', appId, address),
  },
  noSeats: {
    title: 'All seats were in use',
    why: () => 'As many devices as the license has seats were running the program.',
    advice: 'Wait until one is free, or sell more seats.',
  },
  updatesEnded: {
    title: 'The version was not covered',
    why: () => 'This version was released after the updates of the license had ended.',
    advice: 'Run an older version, or extend the updates.',
  },
  versionTooOld: {
    title: 'The version was too old',
    why: () =>
      'This version was older than the oldest one that this application lets run, and not the newest one for the license.',
    advice: 'Let the customer update, or lower the oldest version in App Settings.',
  },
  trialUsed: {
    title: 'The trial was already used',
    why: ({ situation }) =>
      situation?.licenseId
        ? 'The trial on this device had ended.'
        : 'The end user or the license of the trial on this device was deleted.',
    advice: 'Sell a license. For another trial, give the customer a key of a trial type.',
  },
  notActivated: {
    title: 'The device was not activated',
    why: () => 'The license was not activated on this device.',
    advice: 'Activate it there.',
  },
  loggedInMsg: { title: 'Signed in', why: () => 'Nothing was refused.', advice: '' },
}

const stoppedTest: Texts = {
  title: 'The license was of a test order',
  why: () => 'A setting of this application stops licenses of test orders.',
  advice: 'To let it in, turn on “Licenses of Test Orders Work” in App Settings.',
}

export function explain(refused: Refused) {
  const { code, situation } = refused
  const isStoppedTest = code === 'keyBanned' && situation?.isStoppedTest
  const { title, why, advice, fix } = isStoppedTest ? stoppedTest : explanations[code]
  return {
    title,
    why: why(refused),
    advice: typeof advice === 'string' ? advice : advice(refused),
    fix: fix?.(refused) ?? null,
  }
}

/** Explains calls that share a row: what one of them sent is not known. */
export function explainGathered(refused: Refused & { times: number }) {
  const { address, times } = refused
  const source = address === null ? 'this end user' : address
  return {
    ...explain(refused),
    why: `So many calls of ${source} were refused within an hour that they share this row: ${times} for this reason. What each of them sent is not kept.`,
    fix: null,
  }
}

/** The outcome of the checks that the call makes; the first that failed is the verdict. */
export function toState(situation: Situation | undefined, code: MessageKey | null): RefusalState {
  if (situation?.call === undefined) return { code, checks: [], expiresAt: null }
  const { call, expiresAt } = situation
  const checked = codesOf(call)
  const isStored = code === null || situation.refusing.includes(code)
  const refusing = isStored ? situation.refusing : [code, ...situation.refusing]
  // An earlier version of the server made other checks.
  const codes = [...checked, ...refusing.filter((one) => !checked.includes(one))]
  const checks = codes.map((one) => ({ code: one, passed: !refusing.includes(one) }))
  return { code: refusing[0] ?? null, checks, expiresAt: toIsoOrNull(expiresAt) }
}
