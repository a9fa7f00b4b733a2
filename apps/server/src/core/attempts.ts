import { AccountGuesses, type Subject } from './account-guesses.ts'
import { minute } from './clock.ts'
import { sha256 } from './crypto.ts'
import type { Ctx } from './ctx.ts'
import { Gate } from './gate.ts'
import { hashesAtOnce } from './hash-threads.ts'
import { problem, rateLimited } from './problem.ts'

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

/** Counts in the database, so that all nodes count together. */
export class Attempts {
  /** Wrong passwords for one account, from all addresses together. */
  readonly accounts: AccountGuesses
  /** Right passwords cost as much as wrong ones, and are not counted: one address must not use up every hash. */
  readonly hashing = new Gate({
    running: hashesAtOnce,
    waiting: 128,
    rejection: () => problem('busy', { retryAfterSeconds: 1 }),
  })
  readonly #ctx: Ctx
  #counting = 0

  constructor(ctx: Ctx) {
    this.#ctx = ctx
    this.accounts = new AccountGuesses(ctx)
  }

  /** Throws 429 when the allowance is used up. */
  async check(allowance: Allowance, ...subject: string[]): Promise<void> {
    const waitMs = await this.readWait(allowance, ...subject)
    if (waitMs > 0) throw rateLimited(waitMs)
  }

  /**
   * Checks again where attempts are being counted at this moment: of a thousand at once, all may have been read
   * before the first was counted.
   */
  async recheck(allowance: Allowance, ...subject: string[]): Promise<void> {
    if (this.#counting > 0) await this.check(allowance, ...subject)
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
    this.#counting += 1
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
      .finally(() => {
        this.#counting -= 1
      })
    if (row.count > allowance.max) throw rateLimited(row.window_ends - now)
  }
}

const toKey = (allowance: Allowance, subject: string[]): string =>
  allowance.toKey?.(...subject) ?? sha256([allowance.name, ...subject].join('\n'))

/**
 * Checks a password: refuses before the hash is computed when an allowance is used up, and reveals nothing to
 * guesses that were under way when it ran out. The answers are the same for an account that does not exist.
 */
export async function guardPassword<T>(
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
  const endTurn = await attempts.hashing.enter(subject.address)
  const found = await verify().finally(endTurn)
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
