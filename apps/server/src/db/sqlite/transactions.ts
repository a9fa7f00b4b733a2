// ADR 14: a transaction of many rows runs on another thread.
import type { SQLInputValue } from 'node:sqlite'
import type { SqliteResult } from './handle.ts'
import { type SqliteThread, SqliteThreadError } from './thread.ts'

/** A write transaction that has begun. */
export interface Transaction {
  run(text: string, parameters: SQLInputValue[]): SqliteResult | Promise<SqliteResult>
  /** After a release, resolves when the commit is on disk. A second call does nothing: Kysely rolls back after a failure. */
  end(how: 'release' | 'rollback'): Promise<void>
}

interface Groups {
  /** Whether there is a group; the transaction has ended otherwise. */
  readonly isOpen: boolean
  run(text: string, parameters: SQLInputValue[]): SqliteResult
  end(how: 'release' | 'rollback'): Promise<void>
  leave(): void
}

/** One transaction of a group. */
export class GroupedTransaction implements Transaction {
  readonly #groups: Groups
  #failure: { error: unknown } | undefined
  #hasEnded = false

  constructor(groups: Groups) {
    this.#groups = groups
  }

  run(text: string, parameters: SQLInputValue[]): SqliteResult {
    // Outside its transaction, SQLite would autocommit the statement.
    if (this.#failure) throw this.#failure.error
    if (this.#hasEnded || !this.#groups.isOpen) throw new Error('the transaction has ended')
    try {
      return this.#groups.run(text, parameters)
    } catch (error) {
      if (!this.#groups.isOpen) this.#failure = { error }
      throw error
    }
  }

  async end(how: 'release' | 'rollback'): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (!this.#failure) return this.#groups.end(how)
    this.#groups.leave()
    if (how === 'release') throw this.#failure.error
  }
}

/** `failure` is why a commit failed. */
type OnEnd = (outcome: 'committed' | 'rolled back', failure?: unknown) => Promise<void>

/** A transaction of many rows, which another thread runs: the server's thread would otherwise stand still. */
export class LongTransaction implements Transaction {
  readonly #thread: SqliteThread
  readonly #onEnd: OnEnd
  #failure: { error: unknown } | undefined
  #hasEnded = false

  constructor(thread: SqliteThread, onEnd: OnEnd) {
    this.#thread = thread
    this.#onEnd = onEnd
  }

  async run(text: string, parameters: SQLInputValue[]): Promise<SqliteResult> {
    // Outside its transaction, SQLite would autocommit the statement.
    if (this.#failure) throw this.#failure.error
    if (this.#hasEnded) throw new Error('the transaction has ended')
    try {
      return await this.#thread.run(text, parameters)
    } catch (error) {
      // SQLite rolls back everything when the disk is full or fails, and so does the end of the thread.
      if (!isInTransaction(error)) this.#failure = { error }
      throw error
    }
  }

  async end(how: 'release' | 'rollback'): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (this.#failure) {
      await this.#onEnd('rolled back')
      if (how === 'release') throw this.#failure.error
      return
    }
    try {
      await this.#thread.run(how === 'release' ? 'commit' : 'rollback')
    } catch (error) {
      if (isInTransaction(error)) await this.#thread.run('rollback').catch(() => {})
      await this.#onEnd('rolled back', error)
      throw error
    }
    await this.#onEnd(how === 'release' ? 'committed' : 'rolled back')
  }
}

const isInTransaction = (error: unknown): boolean =>
  error instanceof SqliteThreadError && error.isInTransaction
