import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import { coveredFor, digestOf, otherKey, type Signing, testKey } from '../../../packages/sdk/test/signer.ts'
import { leaseClaims, leaseHeader, toJws } from '../../vectors/leases.ts'
import type { Adapter, Answer } from '../adapter.ts'
import {
  type Behaviour,
  type Prepared,
  plain,
  refuse,
  type Seen,
  type Space,
  type StandIn,
  signed,
  startStandIn,
  user,
} from '../stand-in.ts'
import { vectors } from './vectors.ts'

const grants: Record<string, unknown> = {
  init: {
    session: 'session-1',
    expiresAt: '2030-01-02T00:00:00.000Z',
    app: { name: 'Tally', version: '1.0.0' },
    updateAvailable: false,
    variables: {},
  },
  validate: { valid: true, activated: true, license: { key: 'KEY' } },
}
const grantOf = (call: string) => ({ success: true, data: grants[call] ?? { user } })

const granted: Behaviour = (seen) => signed(seen, 200, grantOf(seen.call))
const page = { 'content-type': 'text/html' }

/** A genuine response, modified in transit. */
function tampered(change: (prepared: Prepared, seen: Seen) => Partial<Prepared>): Behaviour {
  return (seen, response) => {
    const prepared = granted(seen, response)!
    return { ...prepared, ...change(prepared, seen) }
  }
}

const edited = (body: string | Buffer) => `${body}`.replace('2030', '2099').replace('KEY', 'YEK')

const setHeader = (name: string, change: (value: string) => string | string[]) =>
  tampered(({ headers }) => ({ headers: { ...headers, [name]: change(headers[name] as string) } }))
const dropHeader = (name: string) => tampered(({ headers: { [name]: _, ...headers } }) => ({ headers }))

/** A genuine response to a request that was changed in transit. */
function reached(change: (seen: Seen) => Partial<Seen>): Behaviour {
  return (seen, response) => {
    const headers = { ...seen.headers }
    return granted({ ...seen, headers, ...change({ ...seen, headers }) }, response)
  }
}

/** A response that the attacker signed with a key of its own. */
const signedBy = (how: (seen: Seen) => Signing, status = 200): Behaviour => {
  return (seen) => signed(seen, status, grantOf(seen.call), how(seen))
}
const without = (name: string) =>
  signedBy(({ headers }) => ({
    components: coveredFor(headers).filter((each) => !each.startsWith(name)),
  }))

const lease = toJws(leaseHeader, leaseClaims)
const forged = 'bad_signature'
const stripped = 'wrong_coverage'

/** What a hostile server or proxy does with a call, and how the SDK must reject it. */
const attacks: [what: string, code: string, behaviour: Behaviour][] = [
  [
    'an unsigned success',
    'blocked',
    (seen) => ({ status: 200, headers: {}, body: JSON.stringify(grantOf(seen.call)) }),
  ],
  [
    'an unsigned success with the status 201',
    'blocked',
    (seen) => ({ status: 201, headers: {}, body: JSON.stringify(grantOf(seen.call)) }),
  ],
  ['an unsigned rejection', 'blocked', plain(403, '{"success":false,"code":"userBanned","message":"No"}')],
  ['a success signed by another app', 'unknown_key', signedBy(() => ({ key: otherKey }))],
  [
    "another app's signature under this app's key id",
    forged,
    signedBy(() => ({ key: otherKey, keyid: testKey.kid })),
  ],
  ['the key under another key id', 'unknown_key', signedBy(() => ({ keyid: 'another-kid' }))],
  ['an empty key id', 'unknown_key', signedBy(() => ({ keyid: '' }))],
  ['another label', 'blocked', signedBy(() => ({ label: 'sig1' }))],
  ['no algorithm', 'wrong_parameters', signedBy(() => ({ params: `;created=1;keyid="${testKey.kid}"` }))],
  [
    'the algorithm none',
    'wrong_parameters',
    signedBy(() => ({ params: `;created=1;keyid="${testKey.kid}";alg="none"` })),
  ],
  ['a signature without the status', stripped, without('"@status"')],
  [
    'a signature without the digest of the answer',
    stripped,
    signedBy(({ headers }) => ({
      components: coveredFor(headers).filter((each) => each !== '"content-digest"'),
    })),
  ],
  ['a signature without the method', stripped, without('"@method"')],
  ['a signature without the path', stripped, without('"@path"')],
  ['a signature without the nonce', stripped, without('"keyward-nonce"')],
  ['a signature of nothing', stripped, signedBy(() => ({ components: [] }))],
  [
    'a component too many',
    stripped,
    signedBy(({ headers }) => ({ components: [...coveredFor(headers), '"keyward-app";req'] })),
  ],
  ['a stripped signature', 'malformed_signature', dropHeader('signature')],
  ['a stripped input', 'malformed_signature', dropHeader('signature-input')],
  ['a stripped digest', 'digest_mismatch', dropHeader('content-digest')],
  [
    'a second signature beside the genuine one',
    'malformed_signature',
    setHeader('signature', (value) => [value, value]),
  ],
  [
    'a second input beside the genuine one',
    'malformed_signature',
    setHeader('signature-input', (value) => [value, value]),
  ],
  [
    'a second digest beside the genuine one',
    'digest_mismatch',
    setHeader('content-digest', (value) => [value, digestOf('x')]),
  ],
  [
    'a signature of zeros',
    forged,
    setHeader('signature', () => `keyward=:${Buffer.alloc(64).toString('base64')}:`),
  ],
  [
    'a lease instead of an answer',
    'blocked',
    () => ({ status: 200, headers: {}, body: JSON.stringify({ success: true, data: { lease } }) }),
  ],
  [
    'the signature of a lease on an answer',
    forged,
    setHeader(
      'signature',
      () => `keyward=:${Buffer.from(lease.split('.')[2]!, 'base64url').toString('base64')}:`,
    ),
  ],
  [
    'a later signing time',
    forged,
    setHeader('signature-input', (value) => value.replace('created=17', 'created=18')),
  ],
  ['a changed body', 'digest_mismatch', tampered(({ body }) => ({ body: edited(body) }))],
  [
    'a changed body with its own digest',
    forged,
    tampered(({ body, headers }) => {
      const changed = edited(body)
      return { body: changed, headers: { ...headers, 'content-digest': digestOf(changed) } }
    }),
  ],
  ['an empty body', 'digest_mismatch', tampered(() => ({ body: '' }))],
  [
    'a byte order mark before the body',
    'digest_mismatch',
    tampered(({ body }) => ({ body: `\ufeff${body}` })),
  ],
  ['a changed status', forged, tampered(() => ({ status: 201 }))],
  [
    'a rejection that became a success',
    forged,
    (seen, response) => ({ ...refuse(403, 'userBanned')(seen, response)!, status: 200 }),
  ],
  ['a success that became a failure of the server', forged, tampered(() => ({ status: 500 }))],
  [
    'the answer to another nonce',
    forged,
    reached(({ headers }) => ({ headers: { ...headers, 'keyward-nonce': 'x'.repeat(32) } })),
  ],
  ['the answer to another path', forged, reached(({ path }) => ({ path: `${path}x` }))],
  [
    'the answer to another path prefix',
    forged,
    reached(({ path }) => ({ path: path.replace(/^\/\w+/, '') })),
  ],
  ['the answer to another method', forged, reached(() => ({ method: 'PUT' }))],
  [
    'half a signature on a 503',
    'malformed_signature',
    (seen, response) => ({ ...dropHeader('signature')(seen, response)!, status: 503 }),
  ],
  ['a 429 of another app', 'unknown_key', signedBy(() => ({ key: otherKey }), 429)],
  ['a megabyte', 'blocked', plain(200, 'x'.repeat(1_000_000))],
  ['a signed megabyte', 'body_too_large', tampered(() => ({ body: 'x'.repeat(1_000_000) }))],
  ['a web page of a megabyte', 'captive_portal', plain(200, 'x'.repeat(1_000_000), page)],
  [
    'an endless answer',
    'blocked',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.on('error', () => {})
      const chunk = Buffer.alloc(65_536, 'x')
      const more = () => {
        while (!response.destroyed && response.write(chunk)) {}
      }
      response.on('drain', more)
      more()
      return undefined
    },
  ],
  [
    'a redirect to itself',
    'captive_portal',
    (seen) => ({ status: 307, headers: { location: seen.path }, body: '' }),
  ],
  ['a web page', 'captive_portal', plain(200, '<html>Welcome</html>', page)],
  ['a missing path', 'wrong_address', plain(404)],
  ['an unsigned appDisabled', 'unknown_app', plain(403, '{"success":false,"code":"appDisabled"}')],
  ['the refusal of a content network', 'blocked', plain(403, 'error code: 1010')],
  ['the time-out of a gateway', 'blocked', plain(408)],
  ['an empty answer', 'blocked', (_, response) => void response.writeHead(204).end()],
]
/** Attacks on what only calls with a body or a session have. */
const onBodies: typeof attacks = [
  [
    'the answer to another body',
    forged,
    reached(({ headers }) => ({
      headers: { ...headers, 'content-digest': digestOf('{"licenseKey":"OTHER"}') },
    })),
  ],
  [
    'a signature without the digest of the request',
    stripped,
    signedBy(({ headers }) => ({ components: coveredFor(headers).slice(0, -1) })),
  ],
  [
    'the answer to a call without a body',
    stripped,
    reached(({ headers: { 'content-digest': _, ...headers } }) => ({ headers })),
  ],
]
const onSessions: typeof attacks = [
  [
    'the answer to another session',
    forged,
    reached(({ headers }) => ({ headers: { ...headers, authorization: 'Bearer other' } })),
  ],
  [
    'the answer to a call without a session',
    stripped,
    reached(({ headers: { authorization: _, ...headers } }) => ({ headers })),
  ],
  ['a signature without the session', stripped, without('"authorization"')],
]

const networkCodes = new Set(['captive_portal', 'wrong_address', 'unknown_app', 'blocked'])
const targets: [method: string, args: unknown[], attacks: typeof attacks][] = [
  ['init', [], [...attacks, ...onBodies]],
  ['license', ['KEY'], [...attacks, ...onBodies, ...onSessions]],
  ['session', [], [...attacks, ...onSessions]],
  ['validate', ['KEY'], [...attacks, ...onBodies]],
]

/** A hostile server and a hostile proxy: no answer of theirs ends as a license. */
export function attacked(adapter: () => Adapter): void {
  let server: StandIn
  beforeAll(async () => {
    server = await startStandIn()
  })
  afterAll(() => server.close())

  const connect = async (id: string, space: Space, options: object = {}, now?: number) =>
    adapter().open(
      id,
      {
        baseUrl: space.baseUrl,
        publicKeys: server.publicKeys,
        appId: 'k3yw4rd1',
        secret: 'secret',
        version: '1.0.0',
        hwid: 'machine-1',
        timeoutMs: 20_000,
        ...options,
      },
      now,
    )

  describe.each(targets)('a hostile answer to %s is rejected', (method, args, those) => {
    const results = new Map<string, { answer: Answer; space: Space }>()

    beforeAll(async () => {
      const calls = []
      for (const [what, , behaviour] of those) {
        const space = server.space()
        for (const call of ['init', 'license', 'session', 'validate']) space.on(call, granted)
        await connect(what, space)
        if (method === 'session') await adapter().call(what, 'license', 'KEY')
        if (method === 'session') expect((await adapter().call(what, 'has', 'pro')).result).toBe(true)
        space.on(method, behaviour)
        calls.push({ id: what, method, args })
        results.set(what, { answer: {}, space })
      }
      const answers = await adapter().together(calls)
      those.forEach(([what], at) => {
        results.get(what)!.answer = answers[at]!
      })
    })

    it('whatever was changed, added or left out', () =>
      everyRow(those, async (what, code, _behaviour) => {
        const { answer, space } = results.get(what)!
        const kind = networkCodes.has(code) ? 'network' : 'signature'
        expect(answer).toMatchObject({ error: { kind, code } })
        expect(space.requests(method), 'it is not repeated').toHaveLength(1)
        if (method !== 'session') expect((await adapter().call(what, 'has', 'pro')).result).toBe(false)
      }))

    it('a replay of its own earlier answer', async () => {
      const space = server.space()
      let recorded: Prepared | undefined
      space.on('license', granted)
      space.on(
        method,
        (seen, response) => {
          recorded = granted(seen, response)
          return recorded
        },
        () => recorded,
      )
      await connect('replay', space)
      if (method === 'session') await adapter().call('replay', 'license', 'KEY')
      expect(await adapter().call('replay', method, ...args)).toMatchObject({ result: { ok: true } })
      expect(await adapter().call('replay', method, ...args)).toMatchObject({ error: { code: forged } })
    })
  })

  describe('an answer or a lease with one bit changed is rejected', () => {
    const flips = 1_000
    const batch = 250

    it(`${flips} times, in the headers or the body of an answer`, async () => {
      const random = seeded(1)
      const { keys, cases } = vectors('answers.json')
      const { request, response } = cases.find(({ name }) => name === 'a call with a session and a body')!
      const parts = [...response.headers.map(([, value]) => Buffer.from(value)), Buffer.from(response.body)]
      await inBatches(flips, batch, async () => {
        const changed = flipOne(parts, random)
        const body = changed.pop()!
        const headers = response.headers.map(([name], at) => [name, changed[at]!.toString('latin1')])
        const bodyBase64 = body.toString('base64')
        const answer = await adapter().ask({
          op: 'judge',
          keys,
          request,
          response: { status: response.status, headers, bodyBase64 },
        })
        expect(answer.outcome, JSON.stringify({ headers, bodyBase64 })).toBe('refused')
      })
    })

    it.each(['lease', 'activation'] as const)(`${flips} times, in any part of: %s`, async (type) => {
      const random = seeded(2)
      const { keys, cases } = vectors('leases.json')
      const { name: _, accepted: __, lease, ...facts } = cases.find((each) => each.type === type)!
      const parts = lease.split('.').map((part) => Buffer.from(part, 'base64url'))
      await inBatches(flips, batch, async () => {
        const changed = flipOne(parts, random)
          .map((part) => part.toString('base64url'))
          .join('.')
        const answer = await adapter().ask({ op: 'lease', keys, ...facts, lease: changed })
        expect(answer.accepted, changed).toBe(false)
      })
    })
  })
}

/** A generator of the numbers from 0 up to a limit, the same in every run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

function flipOne(parts: Buffer[], random: (limit: number) => number): Buffer[] {
  const copies = parts.map((part) => Buffer.from(part))
  let at = random(copies.reduce((size, part) => size + part.length, 0))
  const part = copies.find((each) => {
    if (at < each.length) return true
    at -= each.length
    return false
  })!
  part[at]! ^= 1 << random(8)
  return copies
}

async function inBatches(count: number, size: number, work: () => Promise<void>): Promise<void> {
  for (let left = count; left > 0; left -= size) {
    await Promise.all(Array.from({ length: Math.min(size, left) }, work))
  }
}
