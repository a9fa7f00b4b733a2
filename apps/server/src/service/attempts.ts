import { limits } from '@keyward/contract'
import { minute } from '../core/clock.ts'
import { sha256 } from '../core/crypto.ts'
import type { PasswordTurn } from '../core/passwords/passwords.ts'
import { rateLimited } from '../core/problem.ts'
import { type Db, prepared } from '../db/index.ts'
import { AccountThrottle, type Counted, countedBy, type Subject } from './account-throttle.ts'
import type { Ctx } from './ctx.ts'

/** How often something may happen within a window before it is rejected. */
export interface Allowance {
  name: string
  max: number
  windowMs: number
  /** Builds the row's key where an SQL statement must be able to build the same one. */
  toKey?: (...subject: string[]) => string
}

const signInFailures: Allowance = { name: 'sign-in', max: 10, windowMs: 15 * minute }
/** A higher limit for one address that tries many accounts. */
const addressFailures: Allowance = { name: 'address', max: 100, windowMs: 15 * minute }
/** Unknown license keys, per app and address. */
export const keyFailures = {
  name: 'key',
  max: 100,
  windowMs: 15 * minute,
  toKey: (app = '', address = '') => `${app}${keyFailuresOf(address)}`,
} satisfies Allowance
/** The part of the row's key that follows the app's id. */
export const keyFailuresOf = (address: string): string => sha256(`key\n${address}`)
/** Right passwords of an account: each sign-in, and each change that needs a password, stores a record. */
export const rightPasswords: Allowance = { name: 'right password', max: 1000, windowMs: 60 * minute }
export const registrations: Allowance = { name: 'registration', max: 100, windowMs: 60 * minute }

/** New trials, per app and address. */
export const trialStarts: Allowance = { name: 'trial', max: 100, windowMs: 60 * minute }
/** New trials of an app from all addresses: each stores a license, an end user and a device. */
export const trialsOfApp: Allowance = {
  name: 'trials of app',
  max: limits.trialsPerHour,
  windowMs: 60 * minute,
}

const countedByAll = prepared((db, values: { signIn: string; address: string; account: string }) =>
  db
    .selectFrom('attempts')
    .select(['key', 'count', 'window_ends'])
    .where('key', 'in', [values.signIn, values.address, values.account]),
)

/** Rate limits, counted in the database so that all nodes share them. */
export class Attempts {
  /** Wrong passwords per account across all addresses. */
  readonly accounts: AccountThrottle
  readonly #ctx: Ctx
  #counting = 0

  constructor(ctx: Ctx) {
    this.#ctx = ctx
    this.accounts = new AccountThrottle(ctx)
  }

  /** Throws 429 when the allowance is used up. */
  async check(allowance: Allowance, ...subject: string[]): Promise<void> {
    const waitMs = await this.readWait(allowance, ...subject)
    if (waitMs > 0) throw rateLimited(waitMs)
  }

  /**
   * Checks again if attempts are being counted right now: concurrent requests may all have read the count before the
   * first one was added.
   */
  async recheck(allowance: Allowance, ...subject: string[]): Promise<void> {
    if (this.#counting > 0) await this.check(allowance, ...subject)
  }

  /** Milliseconds until the next attempt is accepted; 0 when one is accepted now. */
  async readWait(allowance: Allowance, ...subject: string[]): Promise<number> {
    if (this.#ctx.config.rateLimits === 'off') return 0
    const row = await countedBy.first(this.#ctx.db, { key: toKey(allowance, subject) })
    return row ? this.waitOf(allowance, row) : 0
  }

  /** Returns a check that throws 429 while this address may not try passwords, or not of this account. */
  checkOfPasswords(subject: Subject): () => Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return async () => {}
    const { account, address } = subject
    const keys = {
      signIn: toKey(signInFailures, [account, address]),
      address: toKey(addressFailures, [address]),
      account: this.accounts.keyOf(account),
    }
    return async () => {
      const rows = await countedByAll.run(this.#ctx.db, keys)
      const find = (wanted: string) => rows.find(({ key }) => key === wanted)
      for (const [allowance, row] of [
        [signInFailures, find(keys.signIn)],
        [addressFailures, find(keys.address)],
      ] as const) {
        const waitMs = row ? this.waitOf(allowance, row) : 0
        if (waitMs > 0) throw rateLimited(waitMs)
      }
      await this.accounts.check(subject, find(keys.account))
    }
  }

  /** Waits for a turn to compare a password. Addresses that have signed in to the account before have their own share. */
  async enter(subject: Subject): Promise<PasswordTurn> {
    const { passwords } = this.#ctx
    const isKnown = passwords.isBusy && (await this.accounts.isKnown(subject))
    return passwords.enter({ ...subject, isKnown })
  }

  /** Refuses before anything of a call is read; undefined if it may go on. */
  refuseUnread(address: string): Promise<never> | undefined {
    return this.accounts.hasSignedIn(address) ? undefined : this.#ctx.passwords.refuseStranger(address)
  }

  /** Like `readWait`, for a row that is already read. */
  waitOf(allowance: Allowance, row: Counted): number {
    if (this.#ctx.config.rateLimits === 'off' || row.count < allowance.max) return 0
    const waitMs = row.window_ends - this.#ctx.clock.now()
    return waitMs > longestMs(allowance) ? 0 : Math.max(0, waitMs)
  }

  /** The counts of open windows, by subject, also while limits are off. */
  async readCounts(allowance: Allowance, subjects: readonly string[]): Promise<Map<string, Counted>> {
    const keys = new Map(subjects.map((subject) => [toKey(allowance, [subject]), subject]))
    const rows = await this.#ctx.db
      .selectFrom('attempts')
      .select(['key', 'count', 'window_ends'])
      .where('key', 'in', [...keys.keys()])
      .where('window_ends', '>', this.#ctx.clock.now())
      .execute()
    return new Map(rows.map(({ key, ...counted }) => [keys.get(key) ?? '', counted]))
  }

  /** Counts an attempt; throws 429 when it exceeds the allowance. */
  async count(allowance: Allowance, ...subject: string[]): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return
    this.#counting += 1
    const row = await this.add(allowance, 1, ...subject).finally(() => {
      this.#counting -= 1
    })
    if (row.count > allowance.max) throw rateLimited(row.window_ends - this.#ctx.clock.now())
  }

  /** Takes back an attempt that was counted before its outcome was known. */
  async forget(allowance: Allowance, ...subject: string[]): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return
    await this.#ctx.db
      .updateTable('attempts')
      .set((eb) => ({ count: eb('count', '-', 1) }))
      .where('key', '=', toKey(allowance, subject))
      .where('count', '>', 0)
      .execute()
  }

  /** Adds to the count of the current window, or begins one, and returns it. */
  add(allowance: Allowance, added: number, ...subject: string[]): Promise<Counted> {
    return this.addIn(this.#ctx.db, allowance, added, ...subject)
  }

  /** The same within a transaction, which undoes it if it fails. */
  addIn(db: Db, allowance: Allowance, added: number, ...subject: string[]): Promise<Counted> {
    return countIn(db, this.#ctx.clock.now(), allowance, added, ...subject)
  }
}

/** Adds to the count of the current window, or begins one, and returns it. */
export function countIn(
  db: Db,
  now: number,
  allowance: Allowance,
  added: number,
  ...subject: string[]
): Promise<Counted> {
  return db
    .insertInto('attempts')
    .values({ key: toKey(allowance, subject), count: added, window_ends: now + allowance.windowMs })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        const isOver = eb.or([
          eb('attempts.window_ends', '<=', now),
          eb('attempts.window_ends', '>', now + longestMs(allowance)),
        ])
        return {
          count: eb
            .case()
            .when(isOver)
            .then(added)
            .else(eb('attempts.count', '+', added))
            .end(),
          window_ends: eb
            .case()
            .when(isOver)
            .then(now + allowance.windowMs)
            .else(eb.ref('attempts.window_ends'))
            .end(),
        }
      }),
    )
    .returning(['count', 'window_ends'])
    .executeTakeFirstOrThrow()
}

/** A window with more time left began before the clock was set back, and is over. The clocks of nodes may differ. */
const longestMs = ({ windowMs }: Allowance): number => 2 * windowMs

const toKey = (allowance: Allowance, subject: string[]): string =>
  allowance.toKey?.(...subject) ?? sha256([allowance.name, ...subject].join('\n'))

/**
 * Checks a password. Rejects before hashing when an allowance is used up, and again after hashing, so that concurrent
 * guesses beyond the limit learn nothing. Unknown accounts get the same responses.
 */
export async function guardPassword<T>(
  attempts: Attempts,
  subject: Subject,
  verify: (turn: PasswordTurn) => Promise<T | undefined>,
): Promise<T | undefined> {
  const refuseWhenUsedUp = attempts.checkOfPasswords(subject)
  await refuseWhenUsedUp()
  const turn = await attempts.enter(subject)
  const found = await verify(turn)
    .then(async (result) => {
      // A wrong guess keeps its turn until it is counted: comparing passwords can be faster than counting in the database.
      if (result === undefined) await countWrong(attempts, subject)
      return result
    })
    .finally(() => turn.end())
  if (found === undefined) return undefined
  await refuseWhenUsedUp()
  await attempts.accounts.remember(subject)
  return found
}

async function countWrong(attempts: Attempts, subject: Subject): Promise<void> {
  await attempts.count(addressFailures, subject.address)
  await attempts.count(signInFailures, subject.account, subject.address)
  await attempts.accounts.count(subject)
}
