import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '../../core/operator-error.ts'
import { isSqliteBusy } from '../failure.ts'
import { SqliteHandle } from '../sqlite/handle.ts'

/** SQLite attaches at most ten files to a connection. */
export const statesMost = 8
const lockWaitMs = 60_000
const lockRetryMs = 2

/**
 * Reads states of an embedded database that others write to. The file is attached several times, and each attachment
 * keeps the state of its first read, so that two states can be compared by one statement.
 */
export class Source {
  /** Also keeps the log of an embedded database that no server uses. */
  readonly handle: SqliteHandle
  readonly #reader: SqliteHandle
  #states = 0
  #schema: unknown

  constructor(path: string) {
    this.handle = new SqliteHandle(path, { readOnly: false })
    this.#reader = new SqliteHandle(path, { readOnly: true })
    for (let at = 1; at < statesMost; at += 1)
      this.#reader.database.prepare(`attach ? as ${stateName(at)}`).run(path)
    this.#reader.database.exec('begin')
  }

  /** Keeps the current state, and returns its name. */
  keepState(): string {
    const state = stateName(this.#states)
    this.#states += 1
    const schema = this.#reader.database
      .prepare(`select group_concat(name || coalesce(sql, '')) as text from ${state}.sqlite_schema`)
      .get()?.text
    this.#schema ??= schema
    if (schema !== this.#schema)
      throw new OperatorError('The embedded database was upgraded meanwhile: repeat the move.')
    return state
  }

  /** Throws if a row refers to none: PostgreSQL checks this only after everything was moved. */
  checkReferences(state: string): void {
    const found = this.#reader.database.prepare(`pragma ${state}.foreign_key_check`).get()
    if (found)
      throw new OperatorError(
        `A row of ${found.table} in the embedded database belongs to a row of ${found.parent} that does not exist. Nothing was moved.`,
      )
  }

  rows(text: string): Iterable<unknown[]> {
    const statement = this.#reader.database.prepare(text)
    statement.setReturnArrays(true)
    return statement.iterate() as unknown as Iterable<unknown[]>
  }

  /** The highest number that a table ever gave. */
  highest(state: string, table: string, column: string): number {
    const found = this.#reader.database
      .prepare(
        `select max(coalesce((select max("${column}") from ${state}."${table}"), 0),
          coalesce((select seq from ${state}.sqlite_sequence where name = ?), 0)) as n`,
      )
      .get(table)
    return Number(found?.n)
  }

  /** Keeps every other process from writing, also a command of the operator, until the source is closed or unlocked. */
  async lock(): Promise<void> {
    const until = performance.now() + lockWaitMs
    for (;;) {
      try {
        this.handle.database.exec('begin immediate')
        return
      } catch (error) {
        if (!isSqliteBusy(error)) throw error
        if (performance.now() > until)
          throw new OperatorError('Another process keeps the embedded database locked: end it, then repeat.')
      }
      await pause(lockRetryMs)
    }
  }

  unlock(): void {
    this.handle.database.exec('rollback')
  }

  close(): void {
    this.#reader.close()
    this.handle.close()
  }
}

const stateName = (at: number): string => (at === 0 ? 'main' : `state${at}`)
