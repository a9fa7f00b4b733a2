import { day, minute } from '../core/clock.ts'
import { rateLimited } from '../core/problem.ts'
import { type Db, prepared } from '../db/index.ts'
import type { Ctx } from './ctx.ts'

/** A password attempt: the account's name, which may not exist, and the caller's address. */
export interface Subject {
  account: string
  address: string
}

const attemptsMax = 100
const windowMs = 15 * minute
/** Delay after each guess beyond the allowance. */
const delaysMs = [1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * minute)
/** How long the level of delay is remembered after the delay has passed. */
const memoryMs = day
/** A wait longer than this began before the clock was set back, and is over. The clocks of nodes may differ. */
const waitMaxMs = 2 * 60 * minute
const knownPerAccount = 20
const knownForMs = 90 * day
const signedInMax = 10_000

/** A row of attempts. */
export interface Counted {
  count: number
  window_ends: number
}

/** The attempts counted under a key. */
export const countedBy = prepared((db, values: { key: string }) =>
  db.selectFrom('attempts').select(['count', 'window_ends']).where('key', '=', values.key),
)

const knownAt = prepared((db, values: { account: string; address: string; now: number }) =>
  db
    .selectFrom('known_addresses')
    .select('expires_at')
    .where('account', '=', values.account)
    .where('address', '=', values.address)
    .where('expires_at', '>', values.now),
)

/**
 * Limits wrong passwords for one account across all addresses, because an attacker can use many. Addresses that have
 * signed in to the account before are exempt, so that an attack does not lock its owner out.
 */
export class AccountThrottle {
  readonly #ctx: Ctx
  /** Addresses that recently signed in to any account on this node, latest last. */
  readonly #signedIn = new Set<string>()

  constructor(ctx: Ctx) {
    this.#ctx = ctx
  }

  /** Throws 429 while the account is closed to guesses from unknown addresses. */
  async check(subject: Subject, counted: Counted | undefined): Promise<void> {
    if (!counted || counted.count < attemptsMax) return
    const waitMs = counted.window_ends - memoryMs - this.#ctx.clock.now()
    if (waitMs > 0 && waitMs <= waitMaxMs && !(await this.#findKnown(subject))) throw rateLimited(waitMs)
  }

  /** Counts a wrong guess; throws 429 if concurrent guesses used up the allowance. */
  async count(subject: Subject): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off' || (await this.#findKnown(subject))) return
    const now = this.#ctx.clock.now()
    const key = this.keyOf(subject.account)
    const latest = now + waitMaxMs + memoryMs
    const counted = await this.#ctx.db
      .insertInto('attempts')
      .values({ key, count: 1, window_ends: now + windowMs })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet((eb) => {
            const isOver = eb.or([
              eb('attempts.window_ends', '<=', now),
              eb('attempts.window_ends', '>', latest),
            ])
            let ends = eb
              .case()
              .when(isOver)
              .then(now + windowMs)
            ends = ends.when('attempts.count', '<', attemptsMax - 1).then(eb.ref('attempts.window_ends'))
            for (const [at, delayMs] of delaysMs.slice(0, -1).entries()) {
              ends = ends.when('attempts.count', '=', attemptsMax - 1 + at).then(now + delayMs + memoryMs)
            }
            return {
              count: eb
                .case()
                .when(isOver)
                .then(1)
                .else(eb('attempts.count', '+', 1))
                .end(),
              window_ends: ends.else(now + (delaysMs.at(-1) ?? 0) + memoryMs).end(),
            }
          })
          // A closed account counts nothing, so that only one guess per delay gets an answer.
          .where((eb) =>
            eb.or([
              eb('attempts.count', '<', attemptsMax),
              eb('attempts.window_ends', '<=', now + memoryMs),
              eb('attempts.window_ends', '>', latest),
            ]),
          ),
      )
      .returning('count')
      .executeTakeFirst()
    if (!counted) await this.check(subject, await countedBy.first(this.#ctx.db, { key }))
  }

  /** Whether the correct password was sent from this address before. */
  async isKnown(subject: Subject): Promise<boolean> {
    return this.#ctx.config.rateLimits === 'on' && (await this.#findKnown(subject)) !== undefined
  }

  /** Remembers an address from which the correct password was sent. */
  async remember(subject: Subject, db: Db = this.#ctx.db): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return
    this.#signedIn.delete(subject.address)
    this.#signedIn.add(subject.address)
    const [oldestSeen = ''] = this.#signedIn
    if (this.#signedIn.size > signedInMax) this.#signedIn.delete(oldestSeen)
    const now = this.#ctx.clock.now()
    const known = await this.#findKnown(subject, db)
    if (known && known.expires_at > now + knownForMs - day) return
    const row = { ...this.#hashed(subject), expires_at: now + knownForMs }
    await db
      .insertInto('known_addresses')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['account', 'address']).doUpdateSet({ expires_at: row.expires_at }),
      )
      .execute()
    const oldest = db
      .selectFrom('known_addresses')
      .select('address')
      .where('account', '=', row.account)
      .orderBy('expires_at', 'desc')
      .orderBy('address')
      .limit(1000)
      .offset(knownPerAccount)
    await db
      .deleteFrom('known_addresses')
      .where('account', '=', row.account)
      .where('address', 'in', oldest)
      .execute()
  }

  /** Whether a right password of any account came from this address since the start of this node. */
  hasSignedIn(address: string): boolean {
    return this.#signedIn.has(address)
  }

  #findKnown(subject: Subject, db: Db = this.#ctx.db): Promise<{ expires_at: number } | undefined> {
    const { account, address } = this.#hashed(subject)
    return knownAt.first(db, { account, address, now: this.#ctx.clock.now() })
  }

  // Keyed hashes: with plain ones, a copy of the database allows trying every IPv4 address.
  #hashed({ account, address }: Subject): Subject {
    const { seal } = this.#ctx
    return { account: seal.digest(account), address: seal.digest(`${account}\n${address}`) }
  }

  /** The row's key for wrong guesses at an account. */
  keyOf = (account: string): string => this.#ctx.seal.digest(`guesses\n${account}`)
}
