import { randomUUID } from 'node:crypto'
import { encrypt } from '../../../core/keyauth-cipher.ts'
import type { ProgramCalls } from '../../program/program.service.ts'
import { newNonce } from '../compatibility.rules.ts'
import { hmacKey, hmacOf, stampedBody } from '../wire/signatures.ts'
import { asciiJson } from '../wire/text.ts'
import type { Exchange } from './exchange.ts'

export interface Payload {
  success: boolean
  message?: string
  [field: string]: unknown
}

export interface Answer {
  body: string
  headers: Record<string, string>
}

const noKey = 'No encryption key supplied'

/** Signs or encrypts an answer as its protocol wants it, over the bytes that leave. */
export async function toAnswer(calls: ProgramCalls, exchange: Exchange, payload: Payload): Promise<Answer> {
  const { protocol, type } = exchange
  // `log` has an empty body before 1.3; its failures have one.
  const isEmpty = protocol !== '1.3' && type === 'log' && payload.success
  if (protocol === '1.3') return signed(calls, exchange, payload)
  if (protocol !== '1.2') {
    const body = isEmpty ? '' : asciiJson(payload, true)
    return protocol === '1.0' ? encrypted(exchange, body) : { body, headers: {} }
  }
  const nonce = payload.success ? { nonce: newNonce() } : {}
  const escapes = payload.message !== 'invalidver'
  const body = isEmpty ? '' : asciiJson({ ...payload, ...nonce }, escapes)
  return { body, headers: authenticated(exchange, body, payload.success) }
}

function authenticated(
  { type, claim, opened }: Exchange,
  body: string,
  success: boolean,
): Record<string, string> {
  if (!claim) return {}
  const { secret } = claim
  if (type === 'init' && !(success && opened?.enckey === null))
    return { signature: hmacOf(hmacKey(secret), body) }
  if (!opened) return { signature: hmacOf(hmacKey(secret), body) }
  if (opened.enckey === null) return { signature: noKey }
  return { signature: hmacOf(hmacKey(secret, opened.enckey), body) }
}

/** Without a key, as when no session is known, the answer cannot be encrypted. */
function encrypted({ type, sent, claim, opened }: Exchange, body: string): Answer {
  const key = type === 'init' ? claim?.secret : opened?.enckey
  const iv = sent.get('init_iv')
  return { body: key && iv !== undefined && body !== '' ? encrypt(body, key, iv) : body, headers: {} }
}

const codes = { success: 68, failure: 0 }

async function signed(
  calls: ProgramCalls,
  { claim, sent }: Exchange,
  { success, message = '', ...more }: Payload,
): Promise<Answer> {
  const claimed = sent.get('ownerid') ?? ''
  const ownerid = /^[0-9A-Za-z]{10}$/.test(claimed) ? claimed : (claim?.ownerId ?? '')
  const code = success ? codes.success : codes.failure
  const body = asciiJson({ success, code, message, ...more, nonce: randomUUID(), ownerid }, false)
  if (!claim) return { body, headers: {} }
  // Programs compare the time with their own clock, so it is that of the answer.
  const seconds = Math.floor(Date.now() / 1000)
  const signature = await calls.signText(stampedBody(seconds, body).toString('latin1'), claim.key)
  return {
    body,
    headers: {
      'x-signature-ed25519': Buffer.from(signature, 'base64').toString('hex'),
      'x-signature-timestamp': String(seconds),
    },
  }
}

/** Programs show texts in a command line and in a page, some without escaping them. */
export const harmless = (text: string): string => text.replace(/[\p{Cc}&|<>^"`%\\]/gu, ' ')
