import type { DatabaseSync, StatementSync } from 'node:sqlite'

const indexes = { licenses: 'license_search', clients: 'client_search' }
type Table = keyof typeof indexes

/** Statements that change what a full-text index holds. */
const rows = /^(?:insert into|delete from) "(licenses|clients|devices)"/
const texts = /^update "(licenses|clients|devices)" set .*"(?:note|username_normalized|name)" =/s

/** The number of the last license that SQLite's full-text index has; later ones wait until they are many. */
export const lastIndexed = 'select coalesce(max(id), 0) from license_search_docsize'

/**
 * Licenses wait until so many are new, and searches compare them one by one meanwhile: each addition to an index is a part
 * of its own, which must be merged with others.
 */
const newMost = 64
const addNew = `insert into license_search (rowid, body)
  select seq, key_normalized || ' ' || coalesce(note, '') from licenses where seq > (${lastIndexed})
    and (select max(seq) from licenses) - (${lastIndexed}) >= ${newMost}`

/** A page takes some 0.06 ms. */
const pagesPerStatement = 8
const pagesMost = 32

/**
 * Adds new licenses to the full-text index, and merges the parts of the indexes, a few pages before each commit that changes
 * them. The automatic merge of SQLite takes hundreds of pages at once, in a mass deletion after every 64 rows, and all
 * requests wait for it.
 */
export class SearchMerges {
  readonly #database: DatabaseSync
  readonly #changes = new Map<Table, number>()
  readonly #manual = new Set<Table>()
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Must be called for each statement of a transaction. */
  note(text: string): void {
    const [, changed] = rows.exec(text) ?? texts.exec(text) ?? []
    const table = changed === 'devices' ? 'clients' : changed
    if (table !== undefined) this.#changes.set(table as Table, (this.#changes.get(table as Table) ?? 0) + 1)
  }

  /** Must be called before the commit. */
  run(): void {
    for (const [table, statements] of this.#changes) {
      this.#changes.delete(table)
      if (!this.#isManual(table)) continue
      if (table === 'licenses') this.#prepare(addNew).run()
      this.#command(table, 'merge', Math.min(pagesMost, statements * pagesPerStatement))
    }
  }

  /** Turns off automatic merges, a setting that the index keeps; false if a migration creates the index later. */
  #isManual(table: Table): boolean {
    if (this.#manual.has(table)) return true
    const index = indexes[table]
    const exists = this.#database.prepare('select 1 from sqlite_master where name = ?').get(index)
    if (!exists) return false
    const set = this.#database.prepare(`select v from ${index}_config where k = 'automerge'`).get()
    if (set?.v !== 0) this.#command(table, 'automerge', 0)
    this.#manual.add(table)
    return true
  }

  #command(table: Table, command: 'merge' | 'automerge', value: number): void {
    const index = indexes[table]
    // `node:sqlite` binds a number as a real one, which the setting rejects.
    this.#prepare(`insert into ${index} (${index}, rank) values (?, cast(? as integer))`).run(command, value)
  }

  /** Preparing a statement on such an index takes longer than running it. */
  #prepare(text: string): StatementSync {
    const statement = this.#statements.get(text) ?? this.#database.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }
}
