import { statfs } from 'node:fs/promises'
import type { Kysely } from 'kysely'
import { storageFailureOf } from './failure.ts'
import type { Tables } from './tables.ts'

/** Below this the next writes fail: SQLite needs room for its log and for what the log is copied to. */
const leastBytes = 1_048_576
const trialName = 'storage_trial'
const trialText = 'x'.repeat(65_536)
const trialEveryMs = 2000

/** Whether the database has room to write. A write that failed for lack of it counts until a trial succeeds. */
export class StorageRoom {
  readonly #directory: string | undefined
  #hasFailed = false
  #triedAt = Number.NEGATIVE_INFINITY

  /** `directory` is where an embedded database lies; the disk of PostgreSQL is out of sight. */
  constructor(directory?: string) {
    this.#directory = directory
  }

  /** Looks at why a statement failed. */
  note(error: unknown): void {
    if (storageFailureOf(error) === 'storage_full') this.#hasFailed = true
  }

  async isFull(db: Kysely<Tables>): Promise<boolean> {
    if (this.#directory !== undefined && (await freeBytes(this.#directory)) < leastBytes) return true
    if (this.#hasFailed && performance.now() - this.#triedAt >= trialEveryMs) await this.#try(db)
    return this.#hasFailed
  }

  /** Writes as much as a few requests do; two commits, because a row that is deleted at once needs no room. */
  async #try(db: Kysely<Tables>): Promise<void> {
    this.#triedAt = performance.now()
    try {
      await db
        .insertInto('meta')
        .values({ name: trialName, value: trialText })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: trialText }))
        .execute()
      this.#hasFailed = false
      await db.deleteFrom('meta').where('name', '=', trialName).execute()
    } catch (error) {
      if (storageFailureOf(error) === undefined) throw error
    }
  }
}

async function freeBytes(directory: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(directory)
  // Some file systems do not say.
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}
