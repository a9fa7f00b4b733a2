// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeLicenses } from '../actors.ts'
import { makeOldApp } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { decrypt } from '../old-programs/encrypted.ts'
import { hmac } from '../old-programs/keyed.ts'
import { headerOf, type OldApp } from '../old-programs/program.ts'
import { unreadable } from '../old-programs/shapes.ts'
import { isSigned } from '../old-programs/timed.ts'
import { type Fields, injected, toRequest, type WireAnswer, type WireRequest } from '../old-programs/wire.ts'
import { rounds } from '../rounds.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)

/** Repeatable chance: a failure names its seed. */
function chance(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    is: (share: number) => next() < share,
    of: <T>(list: readonly T[]) => list[below(list.length)] as T,
  }
}
type Chance = ReturnType<typeof chance>

const types =
  'init login register license upgrade check checkblacklist checkBlack ban var setvar getvar log fetchOnline fetchStats changeUsername forgot logout file webhook chatget chatsend 2faenable 2fadisable loginEmail INIT constructor __proto__ toString'.split(
    ' ',
  )
const names =
  'username pass key hwid email code token thash ver hash enckey varid var data message pcuser reason newUsername fileid webid params channel init_iv sessionid name ownerid type __proto__ constructor'.split(
    ' ',
  )
const nasty = [
  '',
  ' ',
  '\n',
  '%',
  '%zz',
  '%00',
  '%ff%fe',
  '\0',
  '\ud800',
  'null',
  'none',
  'all',
  '<b>x</b>',
  '<',
  "' or 1=1 --",
  '{"a":1}',
  '[]',
  '💍'.repeat(40),
  'ß'.repeat(80),
  'x'.repeat(71),
  'x'.repeat(600),
  'y'.repeat(20_000),
  '-1',
  '1e999',
  '../../etc/passwd',
  '__proto__',
  'a=b&c=d',
  '\r\nsignature: 1',
]

const bodies = [
  '',
  '&',
  '&&&=&=&',
  '=',
  '%%%',
  'type',
  'type=',
  '{"type":"init"}',
  '------x\r\nContent-Disposition: form-data; name="type"\r\n\r\ninit',
  '--x\r\nContent-Disposition: form-data; name="type"\r\n\r\ninit\r\n--x--\r\n',
  `--${'-'.repeat(5000)}form-data`,
  'a&'.repeat(5000),
  'z'.repeat(70_000),
]
const contentTypes = [
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=latin1',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/json',
  'text/plain',
  'nonsense',
  '',
]

interface Known {
  old: OldApp
  appId: string
  values: string[]
}

const protocols = ['1.0', '1.1', '1.2', '1.3'] as const

/** A request near to what programs send, or far from it. */
function invent(by: Chance, { old, appId, values }: Known) {
  const protocol = by.of(protocols)
  const base = by.is(0.2) ? `/api/apps/${by.is(0.7) ? appId : 'no-such-app'}/${protocol}` : `/api/${protocol}`
  const path = by.is(0.8) ? `${base}/` : base
  const type = by.of(types)
  const fields: Fields = { type, name: old.name, ownerid: old.ownerId }
  if (by.is(0.6)) fields.sessionid = by.of(values)
  for (let more = by.below(6); more > 0; more -= 1)
    fields[by.of(names)] = by.is(0.5) ? by.of(nasty) : by.of(values)
  if (protocol === '1.0' && by.is(0.9)) fields.init_iv = '8a4c2e10'
  if (protocol === '1.0' && by.is(0.8))
    for (const name of ['type', 'name', 'ownerid', 'sessionid']) {
      const value = fields[name]
      if (value !== undefined) fields[name] = Buffer.from(value).toString('hex')
    }
  const request = toRequest(path, fields, by.of(['form', 'multipart', 'query', 'unencoded'] as const))
  const headers = by.is(0.15) ? { ...request.headers, 'Content-Type': by.of(contentTypes) } : request.headers
  const isOdd = request.method === 'POST' && by.is(0.1)
  const sent: WireRequest = { ...request, headers, ...(isOdd && { body: by.of(bodies) }) }
  return { protocol, request: sent, fields }
}

/** Why a program could not read an answer; nothing if it can. */
function faultOf(protocol: string, answer: WireAnswer, { old }: Known, vector: string): string | undefined {
  const text = answer.body.toString('latin1')
  if (answer.status !== 200) return `status ${answer.status}`
  if (/[^\x20-\x7e]/.test(text)) return 'not ASCII'
  if (text === '' || text === 'KeyAuth_Invalid') return undefined
  if (protocol === '1.0' && /^[0-9a-f]+$/.test(text)) {
    if (text.length % 32 !== 0) return 'no whole blocks'
    // Another vector may arrive than one that was sent with separators, not encoded.
    return /^[0-9a-f]+$/.test(vector) ? readable(decryptedOr(text, old.secret, vector)) : undefined
  }
  if (protocol === '1.3') {
    const [signature, time] = ['x-signature-ed25519', 'x-signature-timestamp'].map((name) =>
      headerOf(answer, name),
    )
    if (signature && time && !isSigned(old.publicKey, time, answer.body, signature)) return 'wrong signature'
    const { code, success } = JSON.parse(text)
    if (!Number.isInteger(code) || (code === 68) !== success || answer.body.length < 32)
      return 'code or length'
  }
  return readable(text)
}

/** Answers under the key of a session are not decrypted: their program alone knows it. */
const decryptedOr = (hex: string, secret: string, vector: string): string | undefined => {
  try {
    return decrypt(hex, secret, vector)
  } catch {
    return undefined
  }
}

function readable(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const json = JSON.parse(text)
  const type = json.info ? 'login' : json.sessionid ? 'init' : 'other'
  return unreadable(type, json)
}

test('answers whatever strangers send with 200 and in a shape that programs can read', async () => {
  const { app, settings } = await makeOldApp(owner)
  const keys = await makeLicenses(on, owner, app, 20, 3650)
  const wire = injected(on.server)
  const values = ['frodo', 'sam', 'ring-bearer-1', 'S-1-5-21-1-2-3-1001-fuzzed', '1.0', settings.ownerId]
  values.push(...keys.map(({ key }) => key))
  const known: Known = { old: settings, appId: app.appId, values }
  for (const protocol of protocols) {
    const init = { type: 'init', name: settings.name, ownerid: settings.ownerId, ver: '1.0', enckey: 'fuzz' }
    const answer = await wire(toRequest(`/api/${protocol}/`, init, 'form'))
    if (protocol === '1.2') expect(headerOf(answer, 'signature')).toBe(hmac(settings.secret, answer.body))
    if (protocol !== '1.0') values.push(JSON.parse(answer.body.toString()).sessionid)
  }
  const seed = Date.now() % 1e9
  const total = rounds(800, 20_000)
  for (let count = 0; count < total; count += 1) {
    const by = chance(seed + count)
    const { protocol, request, fields } = invent(by, known)
    const answer = await wire(request)
    let fault: string | undefined
    try {
      fault = faultOf(protocol, answer, known, fields.init_iv ?? '')
    } catch (error) {
      fault = String(error)
    }
    const shown = answer.body.toString().slice(0, 300)
    expect(fault, `seed ${seed + count}: ${JSON.stringify(request).slice(0, 600)} → ${shown}`).toBeUndefined()
  }
})
