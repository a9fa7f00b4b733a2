import { limits, type WebhookFormat } from '@keyward/contract'
import { OutboundError } from '../../service/outbound/failures.ts'
import type { Outbound, OutboundAnswer } from '../../service/outbound/outbound.ts'
import { toDiscord } from './webhooks.discord.ts'
import { signedHeaders } from './webhooks.signature.ts'

/** Where and how a webhook wants its events. */
export interface Receiver {
  url: string
  format: WebhookFormat
  /** The current secret first; empty for formats without signatures. */
  secrets: readonly string[]
}

export interface Parcel {
  /** The same for every attempt. */
  id: string
  /** The event as JSON. */
  body: string
  now: number
}

/** What one attempt to deliver led to. */
export interface Attempt {
  /** Null if there was no response; one from 200 to 299 delivers. */
  status: number | null
  /** Why there was no response; a sentence for the vendor. */
  error: string | null
  durationMs: number
  /** How long the receiver asked to wait before the next attempt. */
  retryAfterMs: number | null
  /** What was sent, without the address's path and without signatures. At most `limits.deliveryBytesMax` bytes, like the response. */
  request: string
  response: string | null
}

const longestWaitMs = 24 * 60 * 60_000

/** Makes one attempt. It never throws for what an address or a receiver does. */
export async function send(
  { outbound }: { outbound: Pick<Outbound, 'exchange'> },
  { url, format, secrets }: Receiver,
  parcel: Parcel,
): Promise<Attempt> {
  const body = format === 'discord' ? toDiscord(parcel.body) : parcel.body
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Keyward-Webhooks',
    ...(format === 'discord' ? {} : signedHeaders(parcel, secrets)),
  }
  const request = toKept(`POST ${originOf(url)}`, headers, body)
  const startedAt = performance.now()
  const made = (rest: Pick<Attempt, 'status' | 'error' | 'retryAfterMs' | 'response'>): Attempt => ({
    ...rest,
    durationMs: Math.round(performance.now() - startedAt),
    request,
  })
  try {
    const answer = await outbound.exchange({ method: 'POST', url, headers, body, keptBytes: readBytes })
    const { status } = answer
    const retryAfterMs = toWait(answer.headers['retry-after'], parcel.now)
    return made({ status, error: null, retryAfterMs, response: toResponse(answer, hiddenOf(url, headers)) })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const attempt = made({ status: null, error: error.message, retryAfterMs: null, response: null })
    // How long a name took to resolve could tell which internal names exist.
    return error.failure === 'host' ? { ...attempt, durationMs: 0 } : attempt
  }
}

/** More than is kept, so that what is replaced is found whole. */
const readBytes = 2 * limits.deliveryBytesMax

/** The headers that help to find a mistake; no others are kept, because they can identify or sign in. */
const keptHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'retry-after',
  'webhook-id',
  'webhook-timestamp',
]

function toKept(firstLine: string, headers: Readonly<Record<string, unknown>>, body: string): string {
  const lines = keptHeaders.flatMap((name) =>
    headers[name] === undefined ? [] : [`${name}: ${headers[name]}`],
  )
  return cut(printable([firstLine, ...lines, '', body].join('\n')))
}

function toResponse({ status, headers, body }: OutboundAnswer, hidden: readonly string[]): string {
  const encoding = headers['content-encoding'] ?? 'identity'
  const text = encoding === 'identity' ? new TextDecoder().decode(body) : ''
  const shown = hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
  return toKept(`HTTP ${status}`, headers, shown)
}

/** What a response may repeat of the request but nobody shall read: signatures, and parts of the path that can be tokens. */
const hiddenOf = (url: string, headers: Readonly<Record<string, string>>): string[] => [
  ...(headers['webhook-signature'] ?? '').split(/[ ,]/).filter((part) => part.length > 2),
  ...new URL(url).href
    .split(/[/?&=#]/)
    .slice(3)
    .filter((part) => part.length >= 16),
]

/** PostgreSQL stores no null character, and a terminal obeys others. */
const printable = (text: string): string => text.replace(/[^\P{C}\n\t]/gu, '\ufffd').toWellFormed()

function cut(text: string): string {
  const bytes = Buffer.from(text).subarray(0, limits.deliveryBytesMax)
  // In a stream, the decoder keeps back a character that is not complete.
  return new TextDecoder().decode(bytes, { stream: true })
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? ''

/** Reads `Retry-After`: seconds, or a date. */
function toWait(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const waitMs = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), longestWaitMs) : null
}
