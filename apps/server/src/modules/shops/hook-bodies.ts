import { createHmac } from 'node:crypto'
import { toToldText } from '@keyward/contract'
import { z } from 'zod'
import { minute, second } from '../../core/clock.ts'
import { sameDigest } from '../../core/crypto.ts'
import { problem } from '../../core/problem.ts'
import type { SentEvent } from './shop-adapter.ts'

const toleranceMs = 5 * minute
const partsMax = 10

/** The names of the parts of a header like `t=1772619750,v1=…`, and what stands between time stamp and body. */
interface TimedScheme {
  header: string
  separator: string
  stamp: string
  mark: string
  joint: string
}

/** When a body was signed; undefined if its signature is wrong or too old. */
export function timeSigned(
  scheme: TimedScheme,
  secret: string,
  { headers, body, now }: SentEvent,
): number | undefined {
  const parts = String(headers[scheme.header] ?? '').split(scheme.separator, partsMax)
  const listOf = (name: string) =>
    parts.flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []))
  const [timestamp = ''] = listOf(scheme.stamp)
  const at = Number(timestamp) * second
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - at) > toleranceMs) return undefined
  const signed = Buffer.concat([Buffer.from(`${timestamp}${scheme.joint}`), body])
  return listOf(scheme.mark).some((sent) => isSigned(secret, signed, sent)) ? at : undefined
}

/** Whether this is the HMAC-SHA-256 of a body, in hexadecimal digits. */
export function isSigned(secret: string, body: Buffer, signature: string): boolean {
  return sameDigest(signature, createHmac('sha256', secret).update(body).digest('hex'))
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Throws a problem for a body that misses something. */
export function parseEvent<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const issues = error.issues
    .slice(0, 10)
    .map(({ path, message }) => ({ path: path.join('.').slice(0, 100), message }))
  throw problem('invalid_input', { message: issues[0]?.message, issues })
}

/** What an order says of the license that it is for. */
export const referenceIn = (value: unknown): { reference?: string } => {
  const reference = toToldText(value)
  return reference ? { reference } : {}
}

export const shopId = z.string().min(1).max(255)
export const shopTime = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))
