import { z } from 'zod'
import { links } from './buy-links.ts'
import { limits } from './constants.ts'
import { device, deviceUse, sentDevice } from './devices.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import type { MessageKey } from './errors.ts'
import { programLocale } from './locales.ts'
import { messageDefaults } from './messages.ts'
import { artifact, channel, security } from './releases.ts'
import { email, hwid, id, isoTime, none, password, signInPassword, text } from './shared.ts'
import { pinnedKey } from './signing-keys.ts'
import { ending, licenseTerm } from './terms.ts'
import { type ProgramCall, reasonsOf } from './verdicts.ts'

const licenseKey = z
  .string()
  .trim()
  .min(1, 'License key is required')
  .max(limits.pastedKeyMax, 'License key is too long')
const appId = id
const programVersion = z.string().min(1).max(32)
const variableTexts = z.record(z.string(), z.string())
const sessionUser = z.strictObject({
  _id: z.string(),
  username: z.string(),
  email: z.string().nullable(),
  expiresAt: ending.expiresAt,
  inGrace: ending.inGrace,
  term: licenseTerm,
  createdAt: isoTime,
  lastLoginAt: isoTime.nullable(),
  hwidBound: z.boolean(),
  devices: deviceUse,
  seat: z
    .strictObject({ until: isoTime })
    .nullable()
    .describe('of a floating license; `session` renews it until then'),
  features: z.array(z.string()).describe('of all keys of the end user'),
  variables: variableTexts.describe(
    "the app's that are not public, and the end user's own, which override them",
  ),
  updatesUntil: isoTime.nullable().describe('the license covers versions released until then; null: all'),
  updateAvailable: z
    .boolean()
    .describe('whether the license covers a newer version than that of the program'),
})

const signedInUser = sessionUser.extend({
  links: links.describe(
    'where to buy, renew and upgrade the first license; of the app alone without a license',
  ),
})

/** What a program on a version with a vulnerability is told. */
const advisory = z.strictObject({
  version: z.string().nullable().describe('the release that repairs it; null if none is left'),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  summary: z.string(),
  url: z.string().nullable(),
})
const ownAdvisory = advisory.nullable().describe("on the most severe vulnerability of the program's version")

/** What a refusal says beside its code once the key or password was right. */
const refusalDetails = z.strictObject({
  expiresAt: isoTime.nullable(),
  startedAt: isoTime.nullable().describe('when a license that counts from its first use was first used'),
  devices: deviceUse,
  seats: deviceUse.nullable().describe('with `noSeats`'),
  until: isoTime.nullable().describe('when it is worth to try again, if that is known'),
  links: links
    .optional()
    .describe(
      'with `noActiveSubs`, `updatesEnded`, `versionTooOld`, `noSeats`, `trialUsed` and, if all devices are taken, `hwidMismatch`; never of `session` and `validate`',
    ),
  release: z
    .strictObject({ version: z.string(), url: z.string().nullable() })
    .nullable()
    .optional()
    .describe('with `updatesEnded` and `versionTooOld`: the newest release that the license may use'),
  advisory: advisory.optional().describe("on the most severe vulnerability of the program's version"),
})

/** The machine that the program runs on. */
const machine = { hwid: hwid.optional(), device: sentDevice.optional() }

/** Whether a license can be used now; `code` is the reason if not. */
const verdict = z.strictObject({
  valid: z.boolean(),
  activated: z.boolean().describe('whether the machine is a device of the license'),
  code: z.enum(Object.keys(messageDefaults) as [MessageKey, ...MessageKey[]]).optional(),
  license: z
    .strictObject({
      key: z.string(),
      used: z.boolean(),
      username: z.string().nullable(),
      expiresAt: ending.expiresAt,
      inGrace: ending.inGrace,
      term: licenseTerm,
    })
    .nullable(),
  details: refusalDetails.optional().describe('for a known key that cannot be used'),
  reference: z.string().optional().describe('names this refusal in the activity log of the app'),
})

const tag = 'Client API'
const signIn = z.strictObject({ user: signedInUser })
/** A sign-in that the app can remember on a device. */
const remembering = z.boolean().optional().describe('asks for a `deviceToken`, if the app remembers sign-ins')
const deviceToken = z.string().max(200)
const remembered = z.strictObject({
  user: signedInUser,
  deviceToken: deviceToken.optional().describe('signs in again on this device, once: `/client/resume`'),
})
export const program = {
  init: endpoint({
    method: 'POST',
    path: '/client/init',
    access: 'program',
    tag,
    summary: 'Open a session for a program',
    body: z.strictObject({
      appId,
      secret: z.string().min(1).max(128),
      version: programVersion,
      hash: z.string().max(256).optional().describe('the hash of the program, for apps with `checkHash`'),
      hwid: hwid.optional(),
      locale: programLocale,
      sdk: z
        .string()
        .max(64)
        .regex(/^[A-Za-z0-9._-]+\/[A-Za-z0-9.+-]+$/, 'Must be a name and a version, such as keyward-js/1.0.0')
        .optional(),
    }),
    data: z.strictObject({
      session: z.string(),
      expiresAt: isoTime,
      app: z.strictObject({ name: z.string(), version: z.string() }),
      updateAvailable: z.boolean(),
      advisory: ownAdvisory,
      variables: variableTexts.describe("the app's public ones"),
    }),
    errors: [...reasonsOf('init'), 'rate_limited'],
  }),
  register: endpoint({
    method: 'POST',
    path: '/client/register',
    access: 'session',
    hashes: true,
    tag,
    summary: 'Register an end user with a license key and sign in; marks the license as used',
    body: z.strictObject({
      username: text(1, limits.usernameMax, 'Username'),
      password,
      licenseKey,
      ...machine,
      email: email.optional(),
      remember: remembering,
    }),
    data: remembered,
    errors: [
      ...reasonsOf('register'),
      'unTooShort',
      'pwLeaked',
      'usernameTaken',
      'keyNotFound',
      'keyUsed',
      'rate_limited',
      'busy',
    ],
  }),
  login: endpoint({
    method: 'POST',
    path: '/client/login',
    access: 'session',
    hashes: true,
    tag,
    summary: 'Sign in an end user with username and password',
    body: z.strictObject({
      username: z.string().trim().min(1, 'Username is required').max(100, 'Username is too long'),
      password: signInPassword,
      ...machine,
      remember: remembering,
    }),
    data: remembered,
    errors: [...reasonsOf('login'), 'usernameNotFound', 'passMismatch', 'rate_limited', 'busy'],
  }),
  license: endpoint({
    method: 'POST',
    path: '/client/license',
    access: 'session',
    tag,
    summary: 'Sign in with a license key alone; the first use creates the end user',
    body: z.strictObject({ licenseKey, ...machine, remember: remembering }),
    data: remembered,
    errors: [...reasonsOf('license'), 'keyNotFound', 'keyUsed', 'usernameTaken', 'rate_limited', 'busy'],
  }),
  resume: endpoint({
    method: 'POST',
    path: '/client/resume',
    access: 'session',
    tag,
    summary: 'Sign in again on a device that remembers the sign-in; replaces its token',
    body: z.strictObject({ deviceToken, hwid: hwid.min(1), device: sentDevice.optional() }),
    data: z.strictObject({ user: signedInUser, deviceToken }),
    errors: [...reasonsOf('resume'), 'rate_limited', 'busy'],
  }),
  trial: endpoint({
    method: 'POST',
    path: '/client/trial',
    access: 'session',
    tag,
    summary: 'Start the only trial of a device, or sign in to it while it runs',
    body: z.strictObject({
      hwid: hwid.min(1, 'A trial needs a hardware id'),
      device: sentDevice.optional(),
      type: id.optional().describe('a trial type; by default the oldest of the app'),
      email: email.optional(),
    }),
    data: signIn,
    errors: [...reasonsOf('trial'), 'not_found', 'plan_limit_reached', 'rate_limited', 'busy'],
  }),
  upgrade: endpoint({
    method: 'POST',
    path: '/client/upgrade',
    access: 'session',
    tag,
    summary:
      'Redeem another key for an end user: adds its remaining time, and its features, devices and seats',
    body: z.strictObject({ username: text(1, 100, 'Username'), licenseKey }),
    data: signIn,
    errors: [
      ...reasonsOf('upgrade'),
      'usernameNotFound',
      'keyNotFound',
      'keyUsed',
      'never_expires',
      'rate_limited',
      'busy',
    ],
  }),
  session: endpoint({
    method: 'GET',
    path: '/client/session',
    access: 'session',
    tag,
    summary: 'Get the signed-in end user and the end of the subscription',
    data: z.strictObject({ user: sessionUser, advisory: ownAdvisory }),
    errors: reasonsOf('session'),
  }),
  updates: endpoint({
    method: 'POST',
    path: '/client/updates',
    access: 'session',
    tag,
    summary: 'Get the newest release that the license covers and that this version may update to',
    body: z.strictObject({
      platform: artifact.shape.platform,
      architecture: artifact.shape.architecture,
      channel: channel.default('stable'),
      version: programVersion.optional().describe('by default the one that `init` was sent'),
      licenseKey: licenseKey.optional().describe('of a program that is not signed in'),
    }),
    data: z.strictObject({
      update: z
        .strictObject({
          version: z.string(),
          releasedAt: isoTime,
          notes: z.string().nullable().describe('Markdown'),
          url: z.string().nullable(),
          artifact: artifact.nullable().describe('for this machine; null for a release without artifacts'),
          security: security.nullable(),
        })
        .nullable(),
      beyond: z
        .strictObject({ version: z.string(), links })
        .nullable()
        .describe('a newer release, which the license does not cover, and where to renew'),
    }),
    errors: [...reasonsOf('updates'), 'keyNotFound', 'rate_limited'],
  }),
  lease: endpoint({
    method: 'POST',
    path: '/client/lease',
    access: 'session',
    tag,
    summary: 'Get a signed statement with which the program may run offline on this device for some time',
    body: z.strictObject({ hwid: hwid.min(1) }),
    data: z.strictObject({ lease: z.string().describe('a JWS (RFC 7515) of the type `keyward-lease+jws`') }),
    errors: [...reasonsOf('lease'), 'device_leased'],
  }),
  logout: endpoint({
    method: 'POST',
    path: '/client/logout',
    access: 'session',
    tag,
    summary: 'End the session',
    body: none,
    data: none,
    errors: reasonsOf('logout'),
  }),
  validate: endpoint({
    method: 'POST',
    path: '/client/validate',
    access: 'program',
    tag,
    summary: 'Check a license in one call without a session; always 200 for a known app',
    body: z.strictObject({
      appId,
      licenseKey,
      ...machine,
      activate: z.boolean().default(false).describe('bind the machine like a sign-in by key'),
      locale: programLocale,
    }),
    data: verdict,
    errors: ['appDisabled', 'rate_limited'],
  }),
  devices: endpoint({
    method: 'GET',
    path: '/client/devices',
    access: 'session',
    tag,
    summary: `List the ${limits.deviceListMax} devices of the signed-in end user that were seen last`,
    data: z.strictObject({ devices: z.array(device) }),
    errors: [...reasonsOf('devices'), 'device_self_service_off'],
  }),
  freeDevice: endpoint({
    method: 'DELETE',
    path: '/client/devices/:deviceId',
    access: 'session',
    tag,
    summary: 'Free a device of the signed-in end user, so that another one can take its place',
    params: z.object({ deviceId: id }),
    data: none,
    errors: [
      ...reasonsOf('freeDevice'),
      'device_self_service_off',
      'device_cooldown',
      'device_activated_offline',
      'not_found',
    ],
  }),
  keys: endpoint({
    method: 'GET',
    path: '/client/apps/:appId/keys',
    access: 'program',
    tag,
    summary: 'Get the public signing keys of an app as a JWK set',
    params: z.object({ appId }),
    data: z.strictObject({
      keys: z.array(pinnedKey),
    }),
  }),
} satisfies Record<Exclude<ProgramCall, 'activate' | 'updatesByKey' | 'offlineActivation'> | 'keys', Endpoint>

export type RefusalDetails = z.output<typeof refusalDetails>
export type SessionUser = z.output<typeof sessionUser>
export type Verdict = z.output<typeof verdict>
export type Advisory = z.output<typeof advisory>
