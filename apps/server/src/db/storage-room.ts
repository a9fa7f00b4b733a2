import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import type { Kysely } from 'kysely'
import { freeOf } from './disk-room.ts'
import { isPostgresReadOnly, storageFailureOf } from './failure.ts'
import { putMeta } from './meta.ts'
import { LogSyncError } from './sqlite/checkpoints.ts'
import type { Tables } from './tables.ts'

/** Below this, writes are about to fail: SQLite needs space for its log and for the checkpoint. */
const leastBytes = 1_048_576
const trialName = 'storage_trial'
/** Random, because PostgreSQL compresses repetitive text so much that it fits on a full disk. */
const trialText = randomBytes(49_152).toString('base64')
const trialEveryMs = 2000

/** Why writes fail; after `disk_failed` only a restart helps. */
export type StorageTrouble = 'full' | 'disk_failed' | 'read_only' | 'standby_away'

/**
 * Whether the database can store writes. After a write failed for lack of space, on a read-only server or on the disk,
 * trial writes check until one succeeds.
 */
export class StorageRoom {
  readonly #directory: string | undefined
  #failure: StorageTrouble | undefined
  #triedAt = Number.NEGATIVE_INFINITY
  /** Called when commits begin to wait for a synchronous standby, and when they work again. */
  onStandby: (isAway: boolean) => void = () => {}
  #isStandbyAway = false

  /** `directory` holds an embedded database; the disk of PostgreSQL cannot be checked. */
  constructor(directory?: string) {
    this.#directory = directory
  }

  /** Remembers that a write failed for lack of space or on a read-only server, or that the disk did not store one. */
  note(error: unknown): void {
    if (error instanceof LogSyncError) this.#failure = 'disk_failed'
    else if (storageFailureOf(error) === 'storage_full') this.#failure = 'full'
    else if (isPostgresReadOnly(error)) this.#failure = 'read_only'
  }

  noteStandby(isAway: boolean): void {
    this.#isStandbyAway = isAway
    this.onStandby(isAway)
  }

  /** Whether so many bytes of the disk are free; always true where the database has another one. */
  async leaves(bytes: number): Promise<boolean> {
    return this.#directory === undefined || freeOf(await statfs(this.#directory)) >= bytes
  }

  async findTrouble(db: Kysely<Tables>): Promise<StorageTrouble | undefined> {
    if (this.#isStandbyAway) return 'standby_away'
    const isFull = this.#directory !== undefined && freeOf(await statfs(this.#directory)) < leastBytes
    if (this.#failure && performance.now() - this.#triedAt >= trialEveryMs && !isFull) await this.#try(db)
    return this.#failure ?? (isFull ? 'full' : undefined)
  }

  /** Writes as much as a few requests; two commits, because inserting and deleting in one may need no space. */
  async #try(db: Kysely<Tables>): Promise<void> {
    this.#triedAt = performance.now()
    try {
      await putMeta(db, trialName, trialText)
      this.#failure = undefined
      await db.deleteFrom('meta').where('name', '=', trialName).execute()
    } catch (error) {
      if (storageFailureOf(error) === undefined) throw error
    }
  }
}
