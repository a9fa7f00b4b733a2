import { createHash } from 'node:crypto'
import { leaseEndings, messageDefaults } from '@keyward/contract'
import { activationClaims, activationHeader, leaseClaims, leaseHeader, toJws } from './leases.ts'
import type { Behaviour } from './retries.ts'

interface OfflineCase {
  name: string
  /** The content of the storage file: an object as JSON, a text as it is, `null` for no file. */
  stored: object | string | null
  method: string
  args: unknown[]
  /** Seconds since 1970. */
  now: number
  /** The answers of the server, by the path of the call; the last one repeats. Every other call is answered like a web page. */
  server: Record<string, Behaviour[]>
  expect: {
    result?: object
    error?: object
    /** Members that the storage file has afterwards; `null` for one that it has not. */
    stored?: Record<string, unknown>
    /** How often each call arrives. */
    requests?: Record<string, number>
  }
}

const { iat: issued, exp, graceUntil } = leaseClaims
const hour = 3600
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const key = '7K3QD-M9XWV-2TBRE-HJ5NC-P8FGA'
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

const user = {
  _id: 'usr_of_the_file',
  username: 'ada',
  email: 'ada@example.com',
  expiresAt: '2026-03-01T00:00:00.000Z',
  inGrace: false,
  term: 'date',
  createdAt: '2025-01-01T00:00:00.000Z',
  lastLoginAt: '2025-12-31T00:00:00.000Z',
  hwidBound: true,
  features: ['of the file'],
  variables: { token: 'of the file' },
  updatesUntil: null,
  devices: { used: 1, limit: 2 },
  seat: null,
}

const lease = toJws(leaseHeader, leaseClaims)
const file = toJws(activationHeader, activationClaims)
const { nonce } = activationClaims
const pending = { nonce: 'ffffffffffffffff', licenseKey: sha256('OTHER') }
const activation = { file, nonce, licenseKey: sha256(key) }
const leased = { lease, latest: issued, user, key: sha256(key) }
const activated = { lease: '', latest: issued, user: null, key: null, activation }

const page: Behaviour = { does: 'send', status: 511 }
const sign = (status: number, body: unknown): Behaviour => ({ does: 'sign', status, body })
const grant = (more: object = {}) => sign(200, { success: true, data: { user, ...more } })
const failure = (status: number, code: string) => sign(status, { success: false, code, message: code })
const opened = sign(200, {
  success: true,
  data: {
    session: 'session-1',
    expiresAt: '2030-01-02T00:00:00.000Z',
    app: { name: 'Tally', version: '1.0.0' },
    updateAvailable: false,
    variables: {},
  },
})
const noLease = { success: false, code: 'hwidMismatch', message: 'No lease' }
const online = { init: [opened], lease: [sign(403, noLease)] }

const session = { method: 'session', args: [] as unknown[] }
const away = { now: issued + hour, server: { init: [page] } }

const fromLease = {
  ok: true,
  user: { ...user, _id: leaseClaims.sub, features: ['pro'], variables: {} },
  offline: { until: iso(exp), graceUntil: iso(graceUntil), inGrace: false },
}
const fromActivation = {
  ok: true,
  user: {
    _id: activationClaims.sub,
    username: 'ada',
    email: null,
    expiresAt: activationClaims.expiresAt,
    inGrace: false,
    term: 'date',
    createdAt: iso(activationClaims.iat),
    lastLoginAt: null,
    hwidBound: true,
    features: ['pro'],
    variables: {},
    updatesUntil: null,
    devices: { used: 1, limit: 1 },
    seat: null,
  },
  offline: { until: iso(activationClaims.exp), graceUntil: iso(activationClaims.exp), inGrace: false },
}

const withFeatures = (answer: { user: object }, ...features: string[]) => ({
  ...answer,
  user: { ...answer.user, features },
})
const ends = issued + 2 * hour
const leaseUntil = (featuresUntil: unknown) => ({
  ...leased,
  lease: toJws(leaseHeader, { ...leaseClaims, featuresUntil }),
})
const fileUntil = (featuresUntil: unknown, claims: object = {}) => ({
  ...activated,
  activation: {
    ...activation,
    file: toJws(activationHeader, { ...activationClaims, ...claims, featuresUntil }),
  },
})
const endless = { exp: null, expiresAt: null }

/** Claims `featuresUntil` that say nothing; every other case of this file has none. */
const rubbish: [name: string, featuresUntil: unknown][] = [
  ['null', null],
  ['a text', 'cloud'],
  ['a number', graceUntil],
  ['a list', [graceUntil]],
  [
    'no times',
    {
      ...{ text: `${graceUntil}`, fraction: ends + 0.5, negative: -1, late: 253_402_300_800, huge: 1e300 },
      ...{ empty: null, yes: true, list: [graceUntil], ['__proto__']: { cloud: graceUntil } },
    },
  ],
]

type Facts = Partial<Pick<OfflineCase, 'method' | 'args' | 'now' | 'server'>>
const answers = (name: string, stored: OfflineCase['stored'], result: object, facts: Facts = {}) => ({
  ...refuses(name, stored, 'no_lease', facts),
  expect: { result },
})
const refuses = (
  name: string,
  stored: OfflineCase['stored'],
  offline: string,
  facts: Facts = {},
): OfflineCase => ({
  name,
  stored,
  ...session,
  ...away,
  ...facts,
  expect: { error: { kind: 'network', code: 'captive_portal', offline } },
})
const license = (typed: string): Facts => ({ method: 'license', args: [typed] })

const endsLease = (code: string) => (leaseEndings as readonly string[]).includes(code)
const codes = [...Object.keys(messageDefaults), 'moonPhase'].filter(
  (code) => !['loggedInMsg', 'sessionUnauthed'].includes(code),
)
const whole = { ...leased, deviceToken: 'token-1', activation: { ...activation, pending }, later: { a: 1 } }
const ended = { lease: '', latest: issued, user: null, key: null, deviceToken: 'token-1', later: { a: 1 } }

const rejected = (code: string, { method, args }: Pick<OfflineCase, 'method' | 'args'>): OfflineCase => ({
  name: `${method}, rejected with ${code}, which ${endsLease(code) ? 'ends' : 'leaves'} the lease`,
  stored: whole,
  method,
  args,
  now: issued,
  server: { ...online, [method]: [failure(403, code)], resume: [failure(403, code)] },
  expect: {
    result: { ok: false, code },
    stored: endsLease(code) ? { ...ended, activation: { pending } } : whole,
  },
})

/** What a program answers from its storage file, and what it leaves there. */
export const offline: OfflineCase[] = [
  answers('session, answered from the lease with its signed members', leased, fromLease),
  answers('license with the key that signed in', leased, fromLease, license(key)),
  answers('license with white space around the key', leased, fromLease, license(` ${key}\n`)),
  refuses('license with the key in lower case', leased, 'no_lease', license(key.toLowerCase())),
  refuses('license with the key without dashes', leased, 'no_lease', license(key.replaceAll('-', ''))),
  refuses('license after a sign-in by password', { ...leased, key: null }, 'no_lease', license(key)),
  refuses('license without a stored key', { ...leased, key: undefined }, 'no_lease', license(key)),
  answers(
    'session in the grace of the lease',
    leased,
    {
      ...fromLease,
      offline: { ...fromLease.offline, inGrace: true },
    },
    { now: exp },
  ),
  answers('a time of another type, which counts as none', { ...leased, latest: `${graceUntil}` }, fromLease),
  answers('no latest time', { ...leased, latest: undefined }, fromLease),
  answers('a latest time that is ahead by a time zone', { ...leased, latest: issued + 14 * hour }, fromLease),
  refuses('a latest time that is further ahead', { ...leased, latest: issued + 16 * hour }, 'clock_set_back'),
  refuses('a lease without a user', { ...leased, user: undefined }, 'no_lease'),
  refuses('a lease with a user of null', { ...leased, user: null }, 'no_lease'),
  refuses('a lease that is a list', { ...leased, lease: [lease] }, 'no_lease'),
  refuses('no file', null, 'no_lease'),
  refuses('an empty file', '', 'no_lease'),
  refuses('a file that is cut off', JSON.stringify(leased).slice(0, -1), 'no_lease'),
  refuses('a file that is no object', '7', 'no_lease'),

  ...rubbish.map(([name, featuresUntil]) =>
    answers(
      `a lease whose ends of features are ${name}`,
      leaseUntil(featuresUntil),
      withFeatures(fromLease, 'pro'),
    ),
  ),
  answers(
    'a feature one second before its end',
    leaseUntil({ cloud: ends }),
    withFeatures(fromLease, 'pro', 'cloud'),
    { now: ends - 1 },
  ),
  answers('a feature at its end', leaseUntil({ cloud: ends }), withFeatures(fromLease, 'pro'), { now: ends }),
  answers(
    'features that end at different times, one without a right end',
    leaseUntil({ cloud: ends, export: 'never', sync: ends + hour }),
    withFeatures(fromLease, 'pro', 'sync'),
    { now: ends },
  ),
  answers(
    'a feature that has ended, with a clock that lags behind',
    { ...leaseUntil({ cloud: ends }), latest: ends },
    withFeatures(fromLease, 'pro'),
  ),
  answers(
    'a feature that the lease includes as well',
    leaseUntil({ pro: ends }),
    withFeatures(fromLease, 'pro'),
  ),
  answers(
    'a feature with the name of a member of objects',
    leaseUntil({ ['__proto__']: ends }),
    withFeatures(fromLease, 'pro', '__proto__'),
  ),
  answers(
    'a feature with the end of time as its end',
    leaseUntil({ cloud: 253_402_300_799 }),
    withFeatures(fromLease, 'pro', 'cloud'),
  ),

  answers('session, answered from the activation', activated, fromActivation),
  answers('license with the key of the activation', activated, fromActivation, license(key)),
  refuses('license with that key in lower case', activated, 'no_lease', license(key.toLowerCase())),
  answers('the lease, which comes before the activation', { ...leased, activation }, fromLease),
  answers(
    'the activation after the end of the lease',
    { ...leased, latest: graceUntil, activation },
    fromActivation,
    { now: graceUntil },
  ),
  refuses('the reason of the lease, if neither helps', { ...leased, activation }, 'lease_ended', {
    now: activationClaims.exp,
  }),
  refuses('the reason of the activation without a lease', activated, 'lease_ended', {
    now: activationClaims.exp,
  }),
  refuses(
    'an activation without its nonce',
    { ...activated, activation: { file, licenseKey: sha256(key) } },
    'no_lease',
  ),
  refuses('an activation without its key', { ...activated, activation: { file, nonce } }, 'no_lease'),
  refuses(
    'an activation with another nonce',
    { ...activated, activation: { ...activation, nonce: pending.nonce } },
    'no_lease',
  ),
  ...rubbish
    .slice(-2)
    .map(([name, featuresUntil]) =>
      answers(
        `an activation whose ends of features are ${name}`,
        fileUntil(featuresUntil),
        withFeatures(fromActivation, 'pro'),
      ),
    ),
  answers(
    'a feature of an activation one second before its end',
    fileUntil({ cloud: ends }),
    withFeatures(fromActivation, 'pro', 'cloud'),
    { now: ends - 1 },
  ),
  answers(
    'a feature of an activation at its end',
    fileUntil({ cloud: ends }),
    withFeatures(fromActivation, 'pro'),
    { now: ends },
  ),
  ...(
    [
      ['before its end', ends - 1, ['pro', 'cloud'], ends - 1],
      ['at its end', ends, ['pro'], ends],
      ['with a clock that was set back', issued - 15 * hour, ['pro'], issued],
    ] as const
  ).map(
    ([name, now, features, latest]): OfflineCase => ({
      name: `a feature of an activation without an end, ${name}`,
      stored: fileUntil({ cloud: ends }, endless),
      ...session,
      ...away,
      now,
      expect: { result: { ok: true, user: { features } }, stored: { latest } },
    }),
  ),
  refuses('a request without a file', { ...activated, activation: { pending } }, 'no_lease'),

  {
    name: 'the time of an answer from the lease, which is stored with every other member',
    stored: whole,
    ...session,
    now: issued + hour,
    server: { init: [opened], session: [page] },
    expect: { result: { ok: true }, stored: { ...whole, latest: issued + hour } },
  },
  ...(
    [
      ['login', { username: 'ada', password: 'secret1' }],
      ['register', { username: 'ada', password: 'secret1', licenseKey: key }],
    ] as const
  ).map(
    ([method, credentials]): OfflineCase => ({
      name: `${method}, which no lease answers`,
      stored: leased,
      method,
      args: [credentials],
      ...away,
      expect: { error: { kind: 'network', code: 'captive_portal' }, stored: leased },
    }),
  ),

  ...codes.map((code) => rejected(code, session)),
  ...['userBanned', 'keyNotFound', 'noSeats'].map((code) =>
    rejected(code, { method: 'license', args: [key] }),
  ),
  ...(
    [
      ['validate', [key], 'validate', 'userBanned'],
      ['upgrade', [{ username: 'ada', licenseKey: key }], 'upgrade', 'userBanned'],
      ['devices', [], 'devices', 'userBanned'],
    ] as const
  ).map(
    ([method, args, path, code]): OfflineCase => ({
      name: `${method}, rejected with ${code}, which leaves the lease`,
      stored: whole,
      method,
      args: [...args],
      now: issued,
      server: { ...online, [path]: [failure(403, code)] },
      expect: { result: { ok: false, code }, stored: whole },
    }),
  ),
  {
    name: 'a refused lease, which leaves the earlier one and the success of the call',
    stored: { ...whole, key: sha256('OTHER') },
    method: 'license',
    args: [key],
    now: issued,
    server: { ...online, license: [grant()] },
    expect: { result: { ok: true }, stored: { lease, activation: { file } }, requests: { lease: 1 } },
  },
  {
    name: 'logout, which keeps the time and the activation',
    stored: whole,
    method: 'logout',
    args: [],
    now: issued,
    server: {},
    expect: {
      result: { ok: true },
      stored: { ...ended, deviceToken: null, activation: { ...activation, pending } },
      requests: { logout: 0 },
    },
  },

  {
    name: 'session with a token, which signs in again once and stores the next token',
    stored: { deviceToken: 'token-1' },
    ...session,
    now: issued,
    server: {
      ...online,
      session: [failure(401, 'sessionUnauthed')],
      resume: [grant({ deviceToken: 'token-2' })],
    },
    expect: { result: { ok: true }, stored: { deviceToken: 'token-2' }, requests: { resume: 1, session: 0 } },
  },
  {
    name: 'session with a token that the server has ended, which forgets it',
    stored: { deviceToken: 'token-1' },
    ...session,
    now: issued,
    server: {
      ...online,
      session: [failure(401, 'sessionUnauthed')],
      resume: [failure(401, 'sessionUnauthed'), grant()],
    },
    expect: {
      result: { ok: false, code: 'sessionUnauthed' },
      stored: { deviceToken: null },
      requests: { resume: 1 },
    },
  },
  {
    name: 'session with a token of a banned user, which keeps the token',
    stored: { ...leased, deviceToken: 'token-1' },
    ...session,
    now: issued,
    server: { ...online, resume: [failure(403, 'userBanned')] },
    expect: {
      result: { ok: false, code: 'userBanned' },
      stored: { lease: '', deviceToken: 'token-1' },
      requests: { resume: 1, session: 0 },
    },
  },
  {
    name: 'session without a user, answered from the activation though the server was reached',
    stored: activated,
    ...session,
    now: issued + hour,
    server: { ...online, session: [failure(401, 'sessionUnauthed')] },
    expect: { result: fromActivation },
  },
  {
    name: 'resume after an unsigned 502, which is repeated',
    stored: { deviceToken: 'token-1' },
    ...session,
    now: issued,
    server: { ...online, resume: [{ does: 'send', status: 502 }, grant({ deviceToken: 'token-2' })] },
    expect: { result: { ok: true }, stored: { deviceToken: 'token-2' }, requests: { resume: 2 } },
  },
  {
    name: 'a lease after an unsigned 502, which is repeated',
    stored: null,
    method: 'license',
    args: [key],
    now: issued,
    server: {
      init: [opened],
      license: [grant()],
      lease: [{ does: 'send', status: 502 }, sign(200, { success: true, data: { lease } })],
    },
    expect: {
      result: { ok: true },
      stored: { lease, latest: issued, key: sha256(key), user },
      requests: { lease: 2 },
    },
  },
]

/** The name of the storage file in the folder `keyward` of the user's data folder, by app id. */
export const storageFiles = [
  { appId: 'k3yw4rd1', file: 'k3yw4rd1.json' },
  { appId: 'A-b.c_9', file: 'A_b_c_9.json' },
  { appId: '../x', file: '___x.json' },
]
