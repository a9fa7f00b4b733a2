import { createHmac, createPublicKey, randomBytes, timingSafeEqual, verify } from 'node:crypto'
import type { OldProtocol } from '@keyward/contract'
import { normalizeName } from '../../core/ids.ts'
import { decrypt, encrypt } from '../../core/keyauth-cipher.ts'
import { OutboundError } from '../../service/outbound/failures.ts'
import type { Outbound, OutboundAnswer } from '../../service/outbound/outbound.ts'

/** Where and how an old provider is asked. */
export interface OldProvider {
  url: string
  protocol: OldProtocol
  name: string
  ownerId: string
  secret: string | null
  publicKey: string | null
}

/** What a program sends to sign in. */
export type OldSignIn = { hwid: string | undefined } & (
  | { call: 'login'; username: string; password: string }
  | { call: 'license'; key: string }
)

/** What the old provider says about an end user. */
export interface OldEndUser {
  /** The license key of the subscription that ends last; null if it names none. */
  key: string | null
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** The old provider refuses the sign-in, in its own words. */
export class OldRefusal extends Error {}

/** No answer, or none that can be believed: it says nothing about the end user. */
export class NoAnswer extends Error {}

class LostSession extends NoAnswer {}

export interface AskParts {
  outbound: Pick<Outbound, 'exchange'>
  now(): number
}

const bodyBytesMax = 65_536
/** How old an answer of 1.3 may be, and how far the clocks may differ. */
const signedWithinSeconds = 60

/** Asks as one of the vendor's programs would. Throws an `OldRefusal` or a `NoAnswer`. */
export async function askOldProvider(
  parts: AskParts,
  provider: OldProvider,
  signIn: OldSignIn,
): Promise<OldEndUser> {
  try {
    return await signInOnce(parts, provider, signIn)
  } catch (error) {
    // Another server behind the same address may have opened a session, which ends ours at some providers.
    if (error instanceof LostSession) return signInOnce(parts, provider, signIn)
    throw error
  }
}

async function signInOnce(parts: AskParts, provider: OldProvider, signIn: OldSignIn): Promise<OldEndUser> {
  // A new session for each end user binds the answer of 1.2 to this request.
  const session: Session = { enckey: randomBytes(provider.protocol === '1.0' ? 32 : 16).toString('hex') }
  const opened = await send(parts, provider, { ...session }, 'init', {
    ...(provider.protocol === '1.0' || provider.protocol === '1.2' ? { enckey: session.enckey } : {}),
  })
  const { sessionid } = opened
  if (typeof sessionid !== 'string' || !/^[0-9A-Za-z-]{1,128}$/.test(sessionid)) throw unreadable()
  session.id = sessionid
  const { call, hwid, ...rest } = signIn
  const fields: Fields = 'key' in rest ? { key: rest.key } : { username: rest.username, pass: rest.password }
  const answer = await send(parts, provider, session, call, {
    ...fields,
    ...(hwid === undefined ? {} : { hwid }),
  })
  return toEndUser(answer, 'key' in rest ? rest.key : rest.username)
}

interface Session {
  enckey: string
  id?: string
}

type Fields = Record<string, string>

async function send(
  { outbound, now }: AskParts,
  provider: OldProvider,
  session: Session,
  type: string,
  fields: Fields,
): Promise<Record<string, unknown>> {
  const { protocol, name, ownerId, url } = provider
  const plain = {
    type,
    name,
    ownerid: ownerId,
    ...(session.id === undefined ? {} : { sessionid: session.id }),
  }
  const initIv = randomBytes(16).toString('hex')
  const body =
    protocol === '1.0' ? encrypted(provider, session, { plain, fields, initIv }) : { ...plain, ...fields }
  const answer = await outbound
    .exchange({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Keyward' },
      body: new URLSearchParams(body).toString(),
      keptBytes: bodyBytesMax + 1,
    })
    .catch((error: unknown) => {
      throw error instanceof OutboundError ? new NoAnswer(error.message) : error
    })
  if (answer.status !== 200) throw new NoAnswer(`The old provider answered with status ${answer.status}.`)
  if (answer.body.length > bodyBytesMax) throw new NoAnswer('The answer of the old provider is too large.')
  refuseUnsigned(answer.body.toString('utf8'))
  const text = verified(provider, session, { answer, initIv, now: now() })
  return toObject(text, provider)
}

/** Some refusals are never signed or encrypted; they say nothing about the end user. */
function refuseUnsigned(text: string): void {
  if (text.trim() === 'KeyAuth_Invalid') throw new NoAnswer('The old provider does not know the application.')
  if (text.length < 500 && text.includes('"Session not found'))
    throw new LostSession('The old provider ended the session.')
}

/** The key of a session's messages in protocol 1.0: that of the app before there is a session. */
const keyOf = ({ secret }: OldProvider, { id, enckey }: Session): string =>
  id === undefined ? (secret ?? '') : enckey

function encrypted(
  provider: OldProvider,
  session: Session,
  { plain, fields, initIv }: { plain: Fields; fields: Fields; initIv: string },
): Fields {
  const map = (all: Fields, change: (value: string) => string): Fields =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value)]))
  return {
    ...map(plain, (value) => Buffer.from(value).toString('hex')),
    ...map(fields, (value) => encrypt(value, keyOf(provider, session), initIv)),
    init_iv: initIv,
  }
}

/** The text of an answer whose signature is right, if answers must have one. */
function verified(
  provider: OldProvider,
  session: Session,
  { answer, initIv, now }: { answer: OutboundAnswer; initIv: string; now: number },
): string {
  const { protocol, secret, publicKey } = provider
  const { body, headers } = answer
  const header = (name: string) => String(headers[name] ?? '')
  if (protocol === '1.0') {
    const text = decrypt(body.toString('latin1').trim(), keyOf(provider, session), initIv)
    if (text === null) throw forged()
    return text
  }
  if (protocol === '1.2' && secret !== null) {
    const key = session.id === undefined ? secret : `${session.enckey}-${secret}`
    if (!isKeyedBy(key, body, header('signature'))) throw forged()
  }
  if (protocol === '1.3' && publicKey !== null) {
    const seconds = header('x-signature-timestamp')
    const isRecent = /^\d{10}$/.test(seconds) && Math.abs(now / 1000 - Number(seconds)) <= signedWithinSeconds
    if (!isRecent || !isSignedBy(publicKey, seconds, body, header('x-signature-ed25519'))) throw forged()
  }
  return body.toString('utf8')
}

function toObject(text: string, { ownerId }: OldProvider): Record<string, unknown> {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw unreadable()
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) throw unreadable()
  const { success, message, ownerid } = answer as Record<string, unknown>
  if (ownerid !== undefined && ownerid !== ownerId) throw unreadable()
  if (success === true) return answer as Record<string, unknown>
  if (success !== false || typeof message !== 'string') throw unreadable()
  throw new OldRefusal(message)
}

/** An answer about somebody else is refused, whatever its signature says. */
function toEndUser({ info }: Record<string, unknown>, asked: string): OldEndUser {
  const { username, subscriptions } = (info ?? {}) as { username?: unknown; subscriptions?: unknown }
  if (typeof username !== 'string' || !Array.isArray(subscriptions)) throw unreadable()
  if (normalizeName(username) !== normalizeName(asked)) throw unreadable()
  const found = subscriptions
    .slice(0, 1000)
    .map((one: unknown) => (one ?? {}) as { key?: unknown; expiry?: unknown })
    .filter(({ expiry }) => typeof expiry === 'string' && /^\d{1,12}$/.test(expiry))
    .map(({ key, expiry }) => ({
      key: typeof key === 'string' && key !== '' ? key : null,
      expiresAt: Number(expiry) * 1000,
    }))
    .sort((one, other) => other.expiresAt - one.expiresAt)
  const [last] = found
  if (!last) throw unreadable()
  return last
}

const unreadable = () => new NoAnswer('The answer of the old provider cannot be read.')
const forged = () => new NoAnswer('The answer of the old provider is not signed as it must be.')

/** Whether protocol 1.2 signed these bytes. */
export function isKeyedBy(key: string, body: Buffer, signature: string): boolean {
  const expected = createHmac('sha256', key).update(body).digest()
  const sent = Buffer.from(signature, 'hex')
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/** Whether protocol 1.3 signed these bytes at that time, in Unix seconds. */
export function isSignedBy(publicKey: string, seconds: string, body: Buffer, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/i.test(signature)) return false
  try {
    const x = Buffer.from(publicKey, 'hex').toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.concat([Buffer.from(seconds), body]), key, Buffer.from(signature, 'hex'))
  } catch {
    return false
  }
}
