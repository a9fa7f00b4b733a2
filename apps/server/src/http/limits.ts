import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { minute } from '../core/clock.ts'
import { sha256 } from '../core/crypto.ts'
import type { Ctx } from '../core/ctx.ts'
import { type Problem, rateLimited } from '../core/problem.ts'
import { AccountGuesses, type Subject } from './account-guesses.ts'

/** How often something may happen before it is refused. */
export interface Allowance {
  name: string
  max: number
  windowMs: number
  /** The row's key, where a statement has to put it together by itself. */
  toKey?: (...subject: string[]) => string
}

export const signInFailures: Allowance = { name: 'sign-in', max: 10, windowMs: 15 * minute }
/** Wider, for one address that tries many accounts. */
export const addressFailures: Allowance = { name: 'address', max: 100, windowMs: 15 * minute }
/** License keys that an app does not have, from one address. */
export const keyFailures = {
  name: 'key',
  max: 100,
  windowMs: 15 * minute,
  toKey: (app = '', address = '') => `${app}${keyFailuresOf(address)}`,
} satisfies Allowance
/** What follows the app's id in the key of its row. */
export const keyFailuresOf = (address: string): string => sha256(`key\n${address}`)
export const registrations: Allowance = { name: 'registration', max: 100, windowMs: 60 * minute }

/**
 * Whom an address stands for: of IPv6 the first 64 bits, since every customer is given at least as many addresses;
 * of an IPv4 address in IPv6 clothes the IPv4 address.
 */
export function visitorOf(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%', 1)
  // Behind this prefix stand all of IPv4.
  if (/^64:ff9b:/i.test(bare)) return bare.toLowerCase()
  const [head = '', tail] = bare.split('::')
  const parts = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length + (tail.includes('.') ? 1 : 0)
    const zeros = 8 - parts.length - after
    parts.push(...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...tail.split(':').filter(Boolean))
  }
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** Counts in the database, so that all nodes count together. */
export class Attempts {
  /** Wrong passwords for one account, from all addresses together. */
  readonly accounts: AccountGuesses
  readonly #ctx: Ctx

  constructor(ctx: Ctx) {
    this.#ctx = ctx
    this.accounts = new AccountGuesses(ctx)
  }

  /** Throws 429 when the allowance is used up. */
  async check(allowance: Allowance, ...subject: string[]): Promise<void> {
    const waitMs = await this.readWait(allowance, ...subject)
    if (waitMs > 0) throw rateLimited(waitMs)
  }

  /** How long an allowance stays used up, in milliseconds; 0 when it is not. */
  async readWait(allowance: Allowance, ...subject: string[]): Promise<number> {
    if (this.#ctx.config.rateLimits === 'off') return 0
    const row = await this.#ctx.db
      .selectFrom('attempts')
      .select(['count', 'window_ends'])
      .where('key', '=', toKey(allowance, subject))
      .executeTakeFirst()
    return row ? this.waitOf(allowance, row) : 0
  }

  /** The same for a row that was read already. */
  waitOf(allowance: Allowance, row: { count: number; window_ends: number }): number {
    if (this.#ctx.config.rateLimits === 'off' || row.count < allowance.max) return 0
    return Math.max(0, row.window_ends - this.#ctx.clock.now())
  }

  /** Counts one more, and throws 429 when it is one too many. */
  async count(allowance: Allowance, ...subject: string[]): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return
    const now = this.#ctx.clock.now()
    const row = await this.#ctx.db
      .insertInto('attempts')
      .values({ key: toKey(allowance, subject), count: 1, window_ends: now + allowance.windowMs })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet((eb) => ({
          count: eb
            .case()
            .when('attempts.window_ends', '<=', now)
            .then(1)
            .else(eb('attempts.count', '+', 1))
            .end(),
          window_ends: eb
            .case()
            .when('attempts.window_ends', '<=', now)
            .then(now + allowance.windowMs)
            .else(eb.ref('attempts.window_ends'))
            .end(),
        })),
      )
      .returning(['count', 'window_ends'])
      .executeTakeFirstOrThrow()
    if (row.count > allowance.max) throw rateLimited(row.window_ends - now)
  }
}

const toKey = (allowance: Allowance, subject: string[]): string =>
  allowance.toKey?.(...subject) ?? sha256([allowance.name, ...subject].join('\n'))

/**
 * Checks a password: refuses before the hash is computed when an allowance is used up, and reveals nothing to
 * guesses that were under way when it ran out. The answers are the same for an account that does not exist.
 */
export async function guess<T>(
  attempts: Attempts,
  subject: Subject,
  verify: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const refuseWhenUsedUp = async () => {
    await attempts.check(signInFailures, subject.account, subject.address)
    await attempts.check(addressFailures, subject.address)
    await attempts.accounts.check(subject)
  }
  await refuseWhenUsedUp()
  const found = await verify()
  if (found !== undefined) {
    await refuseWhenUsedUp()
    await attempts.accounts.remember(subject)
    return found
  }
  await attempts.count(addressFailures, subject.address)
  await attempts.count(signInFailures, subject.account, subject.address)
  await attempts.accounts.count(subject)
  return undefined
}

/**
 * Refuses a flood from one address before anything is read; each node counts for itself. The clock must never go
 * back: a window would not end.
 */
export function createFloodGate(options: {
  max: number
  windowMs: number
  /** How many addresses are counted at once; the one that was quiet longest is forgotten first. */
  visitors?: number
  now?: () => number
}) {
  const { max, windowMs, visitors = 50_000, now: read = () => performance.now() } = options
  const seen = new Map<string, number>()
  let windowEnds = 0
  return (request: Pick<FastifyRequest, 'ip'>): Problem | undefined => {
    const now = read()
    if (now >= windowEnds) {
      seen.clear()
      windowEnds = now + windowMs
    }
    const visitor = visitorOf(request.ip)
    const count = (seen.get(visitor) ?? 0) + 1
    seen.delete(visitor)
    seen.set(visitor, count)
    if (seen.size > visitors) seen.delete(seen.keys().next().value ?? '')
    return count > max ? rateLimited(windowEnds - now) : undefined
  }
}
