import { createHash, createPrivateKey, sign } from 'node:crypto'
import { otherKey, signAnswer, type TestKey, testKey } from '../../packages/sdk/test/signer.ts'

interface LeaseCase {
  name: string
  type: 'lease' | 'activation'
  appId: string
  hwid: string
  /** The text that is offered as a lease or as the file of an activation. */
  lease: string
  /** The nonce of the pending request, in hex; for activations. */
  nonce?: string
  /** Seconds since 1970. */
  now: number
  /** The latest time that the machine has seen. */
  latest: number
  accepted: boolean
  /** For leases that are not accepted. */
  problem?: 'no_lease' | 'lease_ended' | 'clock_set_back'
}

const issued = 1_767_225_600
const hour = 3600
const day = 24 * hour
export const appId = 'k3yw4rd1'
export const hwid = '7580780d439ae50c458cace40a3e7922c90f451498daaf1853607965168b0ec5'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

type Parts = { header?: object; claims?: object; key?: TestKey; kid?: string }

/** A JWS in compact form. */
export function toJws(header: object, claims: object, key: TestKey = testKey): string {
  const input = `${encode(header)}.${encode(claims)}`
  const signature = sign(null, Buffer.from(input), createPrivateKey({ key, format: 'jwk' }))
  return `${input}.${signature.toString('base64url')}`
}

export const leaseClaims = {
  iss: 'keyward',
  aud: appId,
  sub: 'usr_2Vb9xQeR7tLm4ZsUj1Ha',
  hwid: sha256(hwid),
  iat: issued,
  refreshAfter: issued + 36 * hour,
  exp: issued + 72 * hour,
  graceUntil: issued + 240 * hour,
  seq: 7,
  features: ['pro'],
}

const nonce = '0102030405060708'
export const activationClaims = {
  iss: 'keyward',
  aud: appId,
  sub: 'usr_2Vb9xQeR7tLm4ZsUj1Ha',
  hwid: sha256(hwid),
  nonce,
  iat: issued,
  exp: issued + 365 * day,
  seq: 8,
  features: ['pro'],
  username: 'ada',
  term: 'date',
  expiresAt: new Date((issued + 365 * day) * 1000).toISOString(),
  deactivation: 'KWD1-0G2M-4T6R-8WAC-EVYH',
}

export const leaseHeader = { alg: 'EdDSA', typ: 'keyward-lease+jws', kid: testKey.kid }
export const activationHeader = { ...leaseHeader, typ: 'keyward-activation+jws' }

/** The shortest lease before which the clock may be a time zone away, and a shorter one. */
const daysLong = { claims: { graceUntil: issued + 72 * hour } }
const shorter = { claims: { graceUntil: issued + 72 * hour - 1 } }
const timeZone = 14 * hour
const lease = ({ header, claims, key }: Parts = {}) =>
  toJws({ ...leaseHeader, ...header }, { ...leaseClaims, ...claims }, key)
const activation = ({ header, claims, key }: Parts = {}) =>
  toJws({ ...activationHeader, ...header }, { ...activationClaims, ...claims }, key)

type Facts = Partial<Pick<LeaseCase, 'appId' | 'hwid' | 'now' | 'latest' | 'nonce'>>

const usual = { appId, hwid, now: issued + hour, latest: issued }

/** A hardware id with white space at its ends, which is hashed as the program passes it. */
const spacedHwid = `  PC-7F3A-0042 \t`
const spaced = { lease: { claims: { hwid: sha256(spacedHwid) } }, facts: { hwid: spacedHwid } }

const accepted = (name: string, text: string, facts: Facts = {}): LeaseCase => ({
  name,
  type: 'lease',
  ...usual,
  lease: text,
  ...facts,
  accepted: true,
})
const refused = (
  name: string,
  text: string,
  facts: Facts = {},
  problem: LeaseCase['problem'] = 'no_lease',
): LeaseCase => ({ ...accepted(name, text, facts), accepted: false, problem })
const activates = (name: string, text: string, facts: Facts = {}): LeaseCase => ({
  ...accepted(name, text, { nonce, ...facts }),
  type: 'activation',
})
const rejected = (name: string, text: string, facts: Facts = {}): LeaseCase => ({
  ...activates(name, text, facts),
  accepted: false,
})

/** The signature of an answer, packed like a lease. */
function answerAsLease(): string {
  const body = JSON.stringify({ success: true, data: { ...leaseClaims, typ: 'keyward-lease+jws' } })
  const { base, headers } = signAnswer({ method: 'POST', path: '/api/client/lease', headers: {} }, 200, body)
  const signature = Buffer.from(headers.signature.slice('keyward=:'.length, -1), 'base64')
  return [base, body, signature].map((part) => Buffer.from(part).toString('base64url')).join('.')
}

/** The last symbol of 64 bytes has four bits that must be zero. */
function withTrailingBits(text: string): string {
  const symbols = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return text.slice(0, -1) + symbols[symbols.indexOf(text.at(-1)!) + 1]
}

const unsigned = (header: object, claims: object) => `${encode(header)}.${encode(claims)}.`

/** What is wrong with both kinds of files in the same way. */
const forgeries = (
  make: (parts?: Parts) => string,
  [header, claims]: [object, object],
  refuse: typeof refused,
): LeaseCase[] => [
  refuse('with another type', make({ header: { typ: 'JWT' } })),
  refuse('with its type in capitals', make({ header: { typ: 'KEYWARD-LEASE+JWS' } })),
  refuse('without a type', make({ header: { typ: undefined } })),
  refuse('with the algorithm none', make({ header: { alg: 'none' } })),
  refuse('with the algorithm none and no signature', unsigned({ ...header, alg: 'none' }, claims)),
  refuse('with another algorithm', make({ header: { alg: 'HS256' } })),
  refuse('without a kid', make({ header: { kid: undefined } })),
  refuse('of an unknown key', make({ key: otherKey, header: { kid: otherKey.kid } })),
  refuse('of another key under a known kid', make({ key: otherKey })),
  refuse('of another issuer', make({ claims: { iss: 'else' } })),
  refuse('of another app', make({ claims: { aud: 'an0therx' } })),
  refuse('of a list of apps', make({ claims: { aud: [appId] } })),
  refuse('with the hash of its device in capitals', make({ claims: { hwid: sha256(hwid).toUpperCase() } })),
  refuse('with a kid that is a list', make({ header: { kid: [testKey.kid] } })),
  refuse('of another device', make({ claims: { hwid: sha256('another machine') } })),
  refuse('with the hardware id itself', make({ claims: { hwid } })),
  refuse('on another device', make(), { hwid: 'another machine' }),
  refuse('in another app', make(), { appId: 'an0therx' }),
  refuse('with changed claims', swapped(make(), 1, encode({ ...claims, exp: issued + 9_999 * day }))),
  refuse('with a changed header', swapped(make(), 0, encode({ ...header, cty: 'x' }))),
  refuse('without its signature', make().split('.').slice(0, 2).join('.')),
  refuse('with an empty signature', make().replace(/[^.]*$/, '')),
  refuse('with a signature of zeros', make().replace(/[^.]*$/, Buffer.alloc(64).toString('base64url'))),
  refuse('with a part too many', `${make()}.AAAA`),
  refuse('with padding', `${make()}==`),
  refuse('with extra trailing bits', withTrailingBits(make())),
  refuse('with white space inside', make().replace('.', '. ')),
  refuse('with claims that are a list', toJws(header, [claims])),
  refuse('that is empty', ''),
  refuse('that is an answer', answerAsLease()),
  refuse('that is JSON', JSON.stringify({ ...header, ...claims })),
]

/** A file with each claim missing, of null and of another type, and with each time that is none. */
function wrongClaims(
  make: (parts?: Parts) => string,
  claims: object,
  times: string[],
  nullable: string[] = [],
): [name: string, text: string][] {
  return Object.entries(claims).flatMap(([name, value]): [string, string][] => {
    const wrong = (how: string, content: unknown): [string, string] => [
      `${how} ${name}`,
      make({ claims: { [name]: content } }),
    ]
    return [
      wrong('without', undefined),
      ...(nullable.includes(name) ? [] : [wrong('with null as', null)]),
      wrong('with a text or a number in place of', typeof value === 'string' ? 1 : `${value}`),
      ...(typeof value === 'number' ? [wrong('with a fraction as', value + 0.5)] : []),
      ...(typeof value === 'number' ? [wrong('with a negative', -1)] : []),
      ...(times.includes(name) ? [wrong('with the year 10000 as', 253_402_300_800)] : []),
    ]
  })
}

function swapped(text: string, index: number, part: string): string {
  return text
    .split('.')
    .map((each, at) => (at === index ? part : each))
    .join('.')
}

const far = issued + 10_000 * day

/** Which leases and activation files a program runs with. */
export const leases: LeaseCase[] = [
  accepted('a lease', lease()),
  accepted('a lease at the time of its issue', lease(), { now: issued }),
  accepted('a lease in its grace', lease(), { now: issued + 100 * hour }),
  accepted('a lease one second before the end of its grace', lease(), { now: issued + 240 * hour - 1 }),
  accepted('a lease of a program that was never started before', lease(), { latest: 0 }),
  accepted('a clock that lags by five minutes', lease(shorter), {
    now: issued + hour,
    latest: issued + hour + 300,
  }),
  accepted('a clock that lags behind the time of issue by five minutes', lease(shorter), {
    now: issued - 300,
    latest: 0,
  }),
  accepted('a clock that lags by a time zone before a lease of days', lease(daysLong), {
    now: issued + hour,
    latest: issued + hour + timeZone,
  }),
  accepted('a clock that lags behind the time of issue of a lease of days by a time zone', lease(daysLong), {
    now: issued - timeZone,
    latest: 0,
  }),
  accepted('a lease with white space at the ends of its hardware id', lease(spaced.lease), spaced.facts),
  refused('a lease whose hardware id was trimmed', lease(), spaced.facts),
  refused('a lease whose hardware id was not trimmed', lease(spaced.lease)),
  accepted('a lease without features', lease({ claims: { features: [] } })),
  accepted('a lease with variables', lease({ claims: { variables: { endpoint: 'https://example.com' } } })),
  accepted('a lease whose variables are of another form', lease({ claims: { variables: ['x'] } })),
  accepted('a lease with a feature that ends', lease({ claims: { featuresUntil: { cloud: issued + 1 } } })),
  accepted('a lease whose ends of features are of another form', lease({ claims: { featuresUntil: 'x' } })),
  accepted(
    'a lease with claims of a newer server',
    lease({ claims: { region: 'eu' }, header: { cty: 'x' } }),
  ),
  refused('a lease at the end of its grace', lease(), { now: issued + 240 * hour }, 'lease_ended'),
  refused('a lease long after its end', lease(), { now: far, latest: issued }, 'lease_ended'),
  refused(
    'a clock that was set back',
    lease(shorter),
    { now: issued + hour, latest: issued + hour + 301 },
    'clock_set_back',
  ),
  refused(
    'a clock that was set back before the issue',
    lease(shorter),
    { now: issued - 301, latest: 0 },
    'clock_set_back',
  ),
  refused(
    'a clock that was set back by more than a time zone before a lease of days',
    lease(daysLong),
    { now: issued + hour, latest: issued + hour + timeZone + 1 },
    'clock_set_back',
  ),
  refused(
    'a clock that was set back by more than a time zone before the issue of a lease of days',
    lease(daysLong),
    { now: issued - timeZone - 1, latest: 0 },
    'clock_set_back',
  ),
  refused(
    'a clock that lags by a time zone after the end that was seen',
    lease(daysLong),
    { now: issued + 71 * hour, latest: issued + 72 * hour },
    'lease_ended',
  ),
  refused('a clock that was set back after the end', lease(), { now: issued, latest: far }, 'clock_set_back'),
  refused('an activation instead of a lease', activation()),
  ...wrongClaims(lease, leaseClaims, ['iat', 'refreshAfter', 'exp', 'graceUntil']).map(([name, text]) =>
    refused(`a lease ${name}`, text),
  ),
  ...forgeries(lease, [leaseHeader, leaseClaims], (name, text, facts) =>
    refused(`a lease ${name}`, text, facts),
  ),

  activates('an activation', activation()),
  activates('an activation that never ends', activation({ claims: { exp: null, expiresAt: null } }), {
    now: far,
  }),
  activates(
    'an activation whose ends of features are of another form',
    activation({ claims: { featuresUntil: ['cloud'] } }),
  ),
  activates('an activation one second before its end', activation(), { now: issued + 365 * day - 1 }),
  activates(
    'a file of several keys',
    file(activation({ key: otherKey, header: { kid: otherKey.kid } }), activation()),
  ),
  activates(
    'a file with the line ends of Windows',
    file(activation({ key: otherKey, header: { kid: 'old' } }), activation()).replaceAll('\n', '\r\n'),
  ),
  activates('a file with empty lines and white space around the lines', `\n  ${activation()}\t\n\n`),
  activates('a file without a line feed at its end', activation().trim()),
  activates('a clock that lags by a time zone at the activation', activation(), {
    now: issued - timeZone,
    latest: issued,
  }),
  activates(
    'a file of a day with a clock that lags by a time zone',
    activation({ claims: { exp: issued + day } }),
    {
      now: issued - timeZone,
    },
  ),
  activates('a file for a hardware id with white space at its ends', activation(spaced.lease), spaced.facts),
  activates('an activation with a clock that was ahead', activation(), { latest: far }),
  activates(
    'an activation that never ends with a clock before its issue',
    activation({ claims: { exp: null, expiresAt: null } }),
    { now: issued - day, latest: far },
  ),
  rejected('an activation at its end', activation(), { now: issued + 365 * day }),
  rejected('an activation whose end is a truth value', activation({ claims: { exp: true } })),
  rejected('an activation whose license ends at no time', activation({ claims: { expiresAt: 'soon' } })),
  ...wrongClaims(activation, activationClaims, ['iat', 'exp'], ['exp', 'expiresAt']).map(([name, text]) =>
    rejected(`an activation ${name}`, text),
  ),
  rejected('an activation for another request', activation({ claims: { nonce: '0807060504030201' } })),
  rejected('an activation for an earlier request', activation(), { nonce: '1111111111111111' }),
  rejected('an activation with a clock before its issue by more than a time zone', activation(), {
    now: issued - timeZone - 1,
    latest: 0,
  }),
  rejected('a lease instead of an activation', lease()),
  rejected('a lease with the nonce', lease({ claims: { nonce } })),
  rejected(
    'a file of foreign keys alone',
    file(activation({ key: otherKey, header: { kid: otherKey.kid } }), activation({ key: otherKey })),
  ),
  ...forgeries(activation, [activationHeader, activationClaims], (name, text, facts) =>
    rejected(`an activation ${name}`, text, facts),
  ),
]

function file(...lines: string[]): string {
  return `${lines.join('\n')}\n`
}
