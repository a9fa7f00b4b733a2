import type { CompatibilityProtocol } from '@keyward/contract'
import { decrypt } from '../../../core/keyauth-cipher.ts'
import type { AppFacts, SessionFacts } from '../../program/program.service.ts'
import type { Claim } from '../compatibility.claims.ts'
import type { Opened } from '../compatibility.sessions.ts'
import { trimmed } from '../wire/text.ts'

/** A request of a program and what is known of it so far. */
export interface Exchange {
  protocol: CompatibilityProtocol
  /** As they were sent. */
  sent: ReadonlyMap<string, string>
  address: string
  /** The name of the call, in small letters. */
  type: string
  claim?: Claim
  app?: AppFacts
  token?: string
  opened?: Opened
  session?: SessionFacts
}

/** Fields that 1.0 sends as hex of their text. */
const hexFields = new Set(['type', 'name', 'ownerid', 'sessionid'])
const plainFields = new Set(['init_iv', 'hash', 'reason', 'newUsername'])

/** A field as it was sent; undefined if it is empty or missing. */
export function rawField(exchange: Exchange, name: string): string | undefined {
  const sent = exchange.sent.get(name)
  if (sent === undefined || sent === '') return undefined
  if (exchange.protocol !== '1.0' || plainFields.has(name)) return sent
  if (hexFields.has(name)) return fromHex(sent) || undefined
  const key = exchange.type === 'init' ? exchange.claim?.secret : exchange.opened?.enckey
  const iv = exchange.sent.get('init_iv')
  if (!key || iv === undefined) return undefined
  return decrypt(sent, key, iv) || undefined
}

/** A field without white space at its ends, and without NUL, which PostgreSQL does not store. */
export const field = (exchange: Exchange, name: string): string | undefined =>
  trimmed((rawField(exchange, name) ?? '').replaceAll('\0', '')) || undefined

const fromHex = (hex: string): string =>
  /^(?:[0-9a-f]{2})+$/i.test(hex) ? Buffer.from(hex, 'hex').toString('utf8') : ''

/** The hardware id. `none` and the like, which programs send of a machine that has none, count as none everywhere. */
export const hwidOf = (exchange: Exchange): string | undefined => field(exchange, 'hwid')
