import type { Db } from '../db/open.ts'
import { day, minute } from './clock.ts'
import type { Ctx } from './ctx.ts'
import { rateLimited } from './problem.ts'

/** Who tries a password: the account's name, which may not exist, and the visitor's address. */
export interface Subject {
  account: string
  address: string
}

const guesses = 100
const windowMs = 15 * minute
/** From the last guess of the allowance on, each further one waits longer. */
const delaysMs = [1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * minute)
/** How long the delay that was reached is kept after it has passed. */
const memoryMs = day
const knownPerAccount = 20
const knownForMs = 90 * day

/**
 * Limits wrong passwords for one account over all addresses: an attacker has as many addresses as it likes.
 * Addresses that signed in to the account before are exempt, so that an attack does not lock its owner out.
 */
export class AccountGuesses {
  readonly #ctx: Ctx

  constructor(ctx: Ctx) {
    this.#ctx = ctx
  }

  /** Throws 429 while the account takes no guesses from unknown addresses. */
  async check(subject: Subject): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return
    const now = this.#ctx.clock.now()
    const row = await this.#ctx.db
      .selectFrom('attempts')
      .select(['count', 'window_ends'])
      .where('key', '=', this.#keyOf(subject.account))
      .executeTakeFirst()
    if (!row || row.count < guesses) return
    const waitMs = row.window_ends - memoryMs - now
    if (waitMs > 0 && !(await this.#findKnown(subject))) throw rateLimited(waitMs)
  }

  /** Counts a wrong guess, and throws 429 when others used the allowance up meanwhile. */
  async count(subject: Subject): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off' || (await this.#findKnown(subject))) return
    const now = this.#ctx.clock.now()
    const counted = await this.#ctx.db
      .insertInto('attempts')
      .values({ key: this.#keyOf(subject.account), count: 1, window_ends: now + windowMs })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet((eb) => {
            let ends = eb
              .case()
              .when('attempts.window_ends', '<=', now)
              .then(now + windowMs)
            ends = ends.when('attempts.count', '<', guesses - 1).then(eb.ref('attempts.window_ends'))
            for (const [at, delayMs] of delaysMs.slice(0, -1).entries()) {
              ends = ends.when('attempts.count', '=', guesses - 1 + at).then(now + delayMs + memoryMs)
            }
            return {
              count: eb
                .case()
                .when('attempts.window_ends', '<=', now)
                .then(1)
                .else(eb('attempts.count', '+', 1))
                .end(),
              window_ends: ends.else(now + (delaysMs.at(-1) ?? 0) + memoryMs).end(),
            }
          })
          // While the account is closed nothing is counted, so that one guess a delay is all that gets an answer.
          .where((eb) =>
            eb.or([eb('attempts.count', '<', guesses), eb('attempts.window_ends', '<=', now + memoryMs)]),
          ),
      )
      .returning('count')
      .executeTakeFirst()
    if (!counted) await this.check(subject)
  }

  /** Remembers that the password was right from this address. */
  async remember(subject: Subject, db: Db = this.#ctx.db): Promise<void> {
    if (this.#ctx.config.rateLimits === 'off') return
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

  #findKnown(subject: Subject, db: Db = this.#ctx.db): Promise<{ expires_at: number } | undefined> {
    const { account, address } = this.#hashed(subject)
    return db
      .selectFrom('known_addresses')
      .select('expires_at')
      .where('account', '=', account)
      .where('address', '=', address)
      .where('expires_at', '>', this.#ctx.clock.now())
      .executeTakeFirst()
  }

  // Keyed hashes: whoever has a copy of the database could try all addresses of the internet on plain ones.
  #hashed({ account, address }: Subject): Subject {
    const { seal } = this.#ctx
    return { account: seal.digest(account), address: seal.digest(`${account}\n${address}`) }
  }

  #keyOf = (account: string): string => this.#ctx.seal.digest(`guesses\n${account}`)
}

/** Removes some of the addresses that were not used for long and returns how many. */
export async function forgetAddresses(db: Db, now: number, count: number): Promise<number> {
  const some = db
    .selectFrom('known_addresses')
    .select(['account', 'address'])
    .where('expires_at', '<=', now)
    .limit(count)
  const gone = await db
    .deleteFrom('known_addresses')
    .where(({ eb, refTuple }) =>
      eb(refTuple('account', 'address'), 'in', some.$asTuple('account', 'address')),
    )
    .returning('account')
    .execute()
  return gone.length
}
