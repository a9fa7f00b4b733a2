import {
  coveredFor,
  digestOf,
  otherKey,
  type Request,
  type Signing,
  signAnswer,
  testKey,
} from '../../packages/sdk/test/signer.ts'

interface AnswerCase {
  name: string
  request: { method: string; path: string; headers: Record<string, string>; body: string | null }
  response: {
    status: number
    headers: [name: string, value: string][]
    body: string
    /** How often the body is repeated, for bodies too long for a file. */
    bodyRepeat?: number
  }
  expect:
    | { outcome: 'verdict' | 'unavailable'; reason?: string; signatureBase?: string }
    | { outcome: 'refused'; reason: string }
}

type Response = AnswerCase['response']
type Tamper = (response: Response) => Response

const nonce = 'bm9uY2Utb2YtdGhlLWNvbmZvcm1hbmNlLWNh'
const session = 'Bearer kw_session_0123456789abcdef'
const granted = '{"success":true,"message":"Successfully logged in","data":{"user":{"username":"ada"}}}'
const banned = '{"success":false,"code":"userBanned","message":"User account is banned"}'

function toRequest(
  method: string,
  name: string,
  body: string | null,
  signedIn: boolean,
): AnswerCase['request'] {
  const headers: Record<string, string> = { 'keyward-nonce': nonce }
  if (signedIn) {
    headers.authorization = session
    headers['keyward-app'] = 'k3yw4rd1'
  }
  if (body !== null) {
    headers['content-type'] = 'application/json'
    headers['content-digest'] = digestOf(body)
  }
  return { method, path: `/api/client/${name}`, headers, body }
}

const init = toRequest('POST', 'init', '{"appId":"k3yw4rd1","secret":"s","version":"1.0.0"}', false)
const login = toRequest('POST', 'login', '{"username":"ada","password":"Größe"}', true)
const check = toRequest('GET', 'session', null, true)
const logout = toRequest('POST', 'logout', null, true)

function respond(request: Request, status: number, body: string, how?: Signing): Response & { base: string } {
  const { base, headers } = signAnswer(request, status, body, how)
  return { status, headers: Object.entries(headers), body, base }
}

function accepted(
  name: string,
  request: AnswerCase['request'],
  status: number,
  body: string,
  how?: Signing,
  tamper?: Tamper,
) {
  const { base, ...response } = respond(request, status, body, how)
  const outcome = status === 429 || status >= 500 ? 'unavailable' : 'verdict'
  return {
    name,
    request,
    response: tamper ? tamper(response) : response,
    expect: { outcome, signatureBase: base },
  } satisfies AnswerCase
}

function refused(name: string, reason: string, how: Signing, tamper?: Tamper): AnswerCase {
  const { base: _, ...response } = respond(login, 200, granted, how)
  return {
    name,
    request: login,
    response: tamper ? tamper(response) : response,
    expect: { outcome: 'refused', reason },
  }
}

const setHeader = (name: string, change: (value: string) => string): Tamper => {
  return (response) => ({
    ...response,
    headers: response.headers.map(([each, value]) => [each, each === name ? change(value) : value]),
  })
}
const dropHeader = (name: string): Tamper => {
  return (response) => ({ ...response, headers: response.headers.filter(([each]) => each !== name) })
}
const unsigned = (name: string, status: number, body: string, type = 'application/json'): AnswerCase => ({
  name,
  request: login,
  response: { status, headers: type === '' ? [] : [['content-type', type]], body },
  expect:
    status === 429 || status >= 500
      ? { outcome: 'unavailable' }
      : { outcome: 'unavailable', reason: 'blocked' },
})
/** An unsigned response of something that is known. */
const stranger = (
  name: string,
  reason: string,
  status: number,
  type: string,
  body: string,
  headers: [string, string][] = [],
): AnswerCase => ({
  name,
  request: login,
  response: { status, headers: [['content-type', type], ...headers], body },
  expect: { outcome: 'unavailable', reason },
})
/** A response without a verdict that has no Keyward signature, or none that can be parsed. */
const withHeaders = (name: string, status: number, headers: [string, string][]): AnswerCase => ({
  name,
  request: login,
  response: { status, headers, body: '' },
  expect: name.includes('cannot be parsed')
    ? { outcome: 'refused', reason: 'malformed_signature' }
    : { outcome: 'unavailable' },
})
const answerTo = (name: string, other: AnswerCase['request'], reason: string): AnswerCase => {
  const { base: _, ...response } = respond(other, 200, granted)
  return { name, request: login, response, expect: { outcome: 'refused', reason } }
}

const twice = (value: string) => `${value}, ${value}`
const addDigest = (digest: string, first = false): Tamper => {
  return (response) => {
    const added: [string, string] = ['content-digest', digest]
    const { headers } = response
    return { ...response, headers: first ? [added, ...headers] : [...headers, added] }
  }
}
/** A response without a verdict whose signature is there, and wrong. */
const broken = (name: string, status: number, reason: string, how: Signing, tamper?: Tamper): AnswerCase => {
  const { base: _, ...response } = respond(login, status, banned, how)
  return {
    name,
    request: login,
    response: tamper ? tamper(response) : response,
    expect: { outcome: 'refused', reason },
  }
}
const line = '0123456789abcdef'.repeat(64)
/** 256 KiB, the most that an SDK reads. */
const mostLines = (256 * 1024) / line.length
const repeated = (lines: number, status: number): AnswerCase['response'] => {
  const { base: _, headers } = respond(login, status, line.repeat(lines))
  return { status, headers, body: line, bodyRepeat: lines }
}

const loginCovered = coveredFor(login.headers)
const swapped = [loginCovered[1]!, loginCovered[0]!, ...loginCovered.slice(2)]
const withKey = (params: string) => ({ params: params.replaceAll('KEY', `keyid="${testKey.kid}"`) })

export const answers: AnswerCase[] = [
  accepted('a call without a session', init, 200, '{"success":true,"data":{"session":"kw_session_1"}}'),
  accepted('a call with a session and a body', login, 200, granted),
  accepted('a call without a body', check, 200, granted),
  accepted('a POST without a body', logout, 200, '{"success":true,"data":{}}'),
  accepted('a rejection', check, 403, banned),
  accepted(
    'a text beyond ASCII in the body',
    check,
    200,
    '{"success":true,"data":{"user":{"username":"Žofie"}}}',
  ),
  accepted('a path with a prefix', { ...check, path: '/licenses/api/client/session' }, 200, granted),
  accepted('an old signing time: the clock is ignored', login, 200, granted, { created: 1 }),
  accepted('a second digest beside sha-256', login, 200, granted, {
    digest: `sha-512=:AAAA:, ${digestOf(granted)}`,
  }),
  accepted('a further signature under another label', login, 200, granted, {}, (response) => ({
    ...response,
    headers: [
      ...response.headers,
      ['signature-input', 'proxy=("@status");created=1;keyid="p"'],
      ['signature', 'proxy=:AAAA:'],
    ],
  })),
  accepted(
    'white space that the grammar allows',
    login,
    200,
    granted,
    {},
    setHeader('signature-input', (value) => value.replace(';created', ';  created')),
  ),
  accepted(
    'white space around a value, which is not a part of it',
    login,
    200,
    granted,
    {},
    setHeader('content-digest', (value) => `  ${value}\t`),
  ),
  accepted('a signed body without success: trusted, but no verdict', login, 200, '{"data":{}}'),
  accepted('a signed 429', login, 429, '{"success":false,"code":"rate_limited","message":"Later"}'),
  accepted('a signed 500', login, 500, '{"success":false,"code":"internal","message":"Sorry"}'),
  unsigned('an unsigned 429', 429, ''),
  unsigned('an unsigned 502', 502, '<html></html>'),
  withHeaders('a signature of a proxy on a 502', 502, [
    ['signature-input', 'proxy=("@status");created=1;keyid="p"'],
    ['signature', 'proxy=:AAAA:'],
  ]),
  withHeaders('a signature on a 503 that cannot be parsed', 503, [['signature', 'keyward=:AA']]),
  withHeaders('an input on a 429 that cannot be parsed, beside the signature of a proxy', 429, [
    ['signature-input', '((('],
    ['signature', 'proxy=:AAAA:'],
  ]),
  withHeaders('an empty signature on a 500', 500, [
    ['signature-input', ''],
    ['signature', ' '],
  ]),
  unsigned('an unsigned success', 200, granted),
  unsigned('an unsigned rejection', 403, banned),
  unsigned('an unsigned success without a type', 200, granted, ''),
  unsigned('the refusal of a content network', 403, 'error code: 1010', 'text/plain; charset=UTF-8'),
  unsigned('the refusal of a gateway', 401, '{"message":"Missing Authentication Token"}'),
  unsigned('the refusal of a proxy that asks for a password', 407, ''),
  unsigned('the time-out of a gateway', 408, '', ''),
  unsigned('a status that no server sends', 418, 'teapot', 'text/plain'),
  unsigned('an empty answer', 204, '', ''),
  unsigned('an empty success', 200, ''),
  unsigned('a success that is no text', 200, '\u001f\u008b\u0008\u0000', 'application/octet-stream'),
  unsigned(
    'an unsigned refusal of a password',
    401,
    '{"success":false,"code":"passMismatch","message":"No"}',
  ),
  unsigned('an unsigned end of a session', 401, '{"success":false,"code":"sessionUnauthed","message":"No"}'),
  unsigned('another unsigned appDisabled', 401, '{"success":false,"code":"appDisabled","message":"No"}'),
  stranger('an unsigned redirect', 'captive_portal', 302, 'text/plain', '', [
    ['location', 'https://portal.example/'],
  ]),
  stranger('a web page', 'captive_portal', 200, 'text/html; charset=utf-8', '<html>Welcome</html>'),
  stranger('a page of an intercepting network', 'captive_portal', 511, 'text/plain', 'Sign in'),
  stranger('a missing path', 'wrong_address', 404, 'application/json', '{"error":"not found"}'),
  stranger('a refused method', 'wrong_address', 405, 'text/plain', ''),
  stranger(
    'a server without the app',
    'unknown_app',
    403,
    'application/json',
    '{"success":false,"code":"appDisabled","message":"Application is currently disabled"}',
  ),
  refused('a web page with half a signature', 'malformed_signature', {}, (response) => ({
    ...dropHeader('signature')(response),
    body: '<html>Welcome</html>',
  })),
  {
    name: 'only another label',
    request: login,
    response: (({ base: _, ...response }) => response)(respond(login, 200, granted, { label: 'sig1' })),
    expect: { outcome: 'unavailable', reason: 'blocked' },
  },
  refused('an input without its signature', 'malformed_signature', {}, dropHeader('signature')),
  refused('a signature without its input', 'malformed_signature', {}, dropHeader('signature-input')),
  refused(
    'the label twice',
    'malformed_signature',
    {},
    setHeader('signature', (value) => `${value}, ${value}`),
  ),
  refused('a parameter twice', 'malformed_signature', withKey(';created=1;created=2;KEY;alg="ed25519"')),
  refused(
    'a signature that is not a byte sequence',
    'malformed_signature',
    {},
    setHeader('signature', () => 'keyward="x"'),
  ),
  refused(
    'a signature of 63 bytes',
    'malformed_signature',
    {},
    setHeader('signature', () => `keyward=:${Buffer.alloc(63, 1).toString('base64')}:`),
  ),
  refused(
    'a signature with extra trailing bits',
    'malformed_signature',
    {},
    setHeader('signature', (value) =>
      value.replace(/(.)==:$/, (_, last) => `${String.fromCharCode(last.charCodeAt(0) + 1)}==:`),
    ),
  ),
  refused(
    'an input that is not a list',
    'malformed_signature',
    {},
    setHeader('signature-input', () => 'keyward="@status"'),
  ),
  refused(
    'a truncated input',
    'malformed_signature',
    {},
    setHeader('signature-input', (value) => value.slice(0, 20)),
  ),
  ...loginCovered.map((name) =>
    refused(`${name} is not covered`, 'wrong_coverage', {
      components: loginCovered.filter((each) => each !== name),
    }),
  ),
  refused('the components in another order', 'wrong_coverage', { components: swapped }),
  refused('a component too many', 'wrong_coverage', { components: [...loginCovered, '"keyward-app";req'] }),
  refused('the method without req', 'wrong_coverage', {
    components: loginCovered.map((name) => name.replace('"@method";req', '"@method"')),
  }),
  refused('no created', 'wrong_parameters', withKey(';KEY;alg="ed25519"')),
  refused('no keyid', 'wrong_parameters', withKey(';created=1;alg="ed25519"')),
  refused('no alg', 'wrong_parameters', withKey(';created=1;KEY')),
  refused('another alg', 'wrong_parameters', withKey(';created=1;KEY;alg="hmac-sha256"')),
  refused('created as a string', 'wrong_parameters', withKey(';created="1";KEY;alg="ed25519"')),
  refused('the parameters in another order', 'wrong_parameters', withKey(';KEY;created=1;alg="ed25519"')),
  refused('a parameter too many', 'wrong_parameters', withKey(';created=1;KEY;alg="ed25519";expires=2')),
  refused('an unknown key', 'unknown_key', { key: otherKey }),
  refused("another app's key under a known key id", 'bad_signature', { key: otherKey, keyid: testKey.kid }),
  refused('a changed body', 'digest_mismatch', {}, (response) => ({
    ...response,
    body: response.body.replace('ada', 'eve'),
  })),
  refused('a truncated body', 'digest_mismatch', {}, (response) => ({
    ...response,
    body: response.body.slice(0, -3),
  })),
  refused('an empty body', 'digest_mismatch', {}, (response) => ({ ...response, body: '' })),
  refused('no digest', 'digest_mismatch', {}, dropHeader('content-digest')),
  refused('a signed digest of another body', 'digest_mismatch', { digest: digestOf('other') }),
  refused('a signed digest of another kind only', 'digest_mismatch', { digest: 'sha-512=:AAAA:' }),
  refused('a changed body with a matching digest', 'bad_signature', {}, (response) =>
    setHeader('content-digest', () => digestOf(banned))({ ...response, body: banned }),
  ),
  refused('a changed status', 'bad_signature', {}, (response) => ({ ...response, status: 201 })),
  refused(
    'a changed signing time',
    'bad_signature',
    {},
    setHeader('signature-input', (value) => value.replace('created=17', 'created=18')),
  ),
  refused(
    'an all-zero signature',
    'bad_signature',
    {},
    setHeader('signature', () => `keyward=:${Buffer.alloc(64).toString('base64')}:`),
  ),
  refused('a broken signature on a 500', 'bad_signature', {}, (response) => ({ ...response, status: 500 })),
  answerTo(
    'a replay: the answer to another nonce',
    { ...login, headers: { ...login.headers, 'keyward-nonce': 'x'.repeat(32) } },
    'bad_signature',
  ),
  answerTo(
    'the answer to another session',
    { ...login, headers: { ...login.headers, authorization: 'Bearer other' } },
    'bad_signature',
  ),
  answerTo(
    'the answer to another body',
    { ...login, headers: { ...login.headers, 'content-digest': digestOf('{}') } },
    'bad_signature',
  ),
  answerTo('the answer to another path', { ...login, path: '/api/client/license' }, 'bad_signature'),
  answerTo('the answer to another method', { ...login, method: 'PUT' }, 'bad_signature'),
  answerTo('the answer to a call without a body', check, 'wrong_coverage'),
  refused('two digests in one header, both right', 'digest_mismatch', {}, setHeader('content-digest', twice)),
  refused('two digests in one header, signed', 'digest_mismatch', { digest: twice(digestOf(granted)) }),
  refused('the digest on two lines', 'digest_mismatch', {}, addDigest(digestOf(granted))),
  refused('the digest of another body on a second line', 'digest_mismatch', {}, addDigest(digestOf(banned))),
  refused(
    'the digest of another body on a line before',
    'digest_mismatch',
    {},
    addDigest(digestOf(banned), true),
  ),
  refused(
    'a digest with extra trailing bits',
    'digest_mismatch',
    {},
    setHeader('content-digest', (value) =>
      value.replace(/(.)=:$/, (_, last) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=:`),
    ),
  ),
  refused('the digest in hex', 'digest_mismatch', { digest: `sha-256=${'a'.repeat(64)}` }),
  broken('an input without its signature on a 500', 500, 'malformed_signature', {}, dropHeader('signature')),
  broken(
    'a signature without its input on a 502',
    502,
    'malformed_signature',
    {},
    dropHeader('signature-input'),
  ),
  broken(
    'a signature without its input on a 429',
    429,
    'malformed_signature',
    {},
    dropHeader('signature-input'),
  ),
  broken('an unknown key on a 503', 503, 'unknown_key', { key: otherKey }),
  broken("another app's key on a 500", 500, 'bad_signature', { key: otherKey, keyid: testKey.kid }),
  broken('less coverage on a 429', 429, 'wrong_coverage', { components: loginCovered.slice(0, -1) }),
  broken('other parameters on a 500', 500, 'wrong_parameters', { params: ';created=1' }),
  broken('a changed body on a 503', 503, 'digest_mismatch', {}, (response) => ({
    ...response,
    body: granted,
  })),
  broken('a 403 that became a 503', 403, 'bad_signature', {}, (response) => ({ ...response, status: 503 })),
  {
    name: 'a body of 256 KiB',
    request: login,
    response: repeated(mostLines, 200),
    expect: { outcome: 'verdict' },
  },
  ...[200, 403, 503].map(
    (status): AnswerCase => ({
      name: `a body of more than 256 KiB, signed, with the status ${status}`,
      request: login,
      response: repeated(mostLines + 1, status),
      expect: { outcome: 'refused', reason: 'body_too_large' },
    }),
  ),
  ...(
    [
      ['text/html', 'captive_portal'],
      ['application/json', 'blocked'],
    ] as const
  ).map(
    ([type, reason]): AnswerCase => ({
      name: `an unsigned body of a megabyte as ${type}`,
      request: login,
      response: { status: 200, headers: [['content-type', type]], body: line, bodyRepeat: 1_024 },
      expect: { outcome: 'unavailable', reason },
    }),
  ),
]
