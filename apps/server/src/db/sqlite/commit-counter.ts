// ADR 2: reads use a connection that sees committed data only.
import type { StatementSync } from 'node:sqlite'
import type { SqliteHandle } from './handle.ts'

/** Counts the commits to an embedded database, so that data read since the last one can be used again. */
export class CommitCounter {
  readonly #writer: SqliteHandle
  readonly #version: StatementSync
  #isRecent = false
  #lastVersion: unknown
  #lastCommits = 0
  #count = 0

  constructor(writer: SqliteHandle, reader: SqliteHandle) {
    this.#writer = writer
    this.#version = reader.database.prepare('pragma data_version')
  }

  /**
   * A number that changes with every commit of this process, and with those of other processes by the next turn of
   * the event loop: asking SQLite for them costs more than most of what depends on it.
   */
  read(): number {
    const { commits } = this.#writer
    if (commits !== this.#lastCommits) {
      this.#lastCommits = commits
      this.#count += 1
    }
    if (!this.#isRecent) {
      this.#isRecent = true
      setImmediate(() => {
        this.#isRecent = false
      })
      const version = this.#version.get()?.data_version
      if (version !== this.#lastVersion) this.#count += 1
      this.#lastVersion = version
    }
    return this.#count
  }
}
