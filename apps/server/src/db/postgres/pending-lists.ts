// ADR 26: new entries of the search indexes are sorted soon.
import type pg from 'pg'

const afterMs = 1000

const clean = `select gin_clean_pending_list(c.oid) as pages from pg_class c join pg_am m on m.oid = c.relam
  where m.amname = 'gin' and c.relkind = 'i' and c.relnamespace = current_schema()::regnamespace
    and pg_has_role(c.relowner, 'usage') and not pg_is_in_recovery()`

/**
 * PostgreSQL collects new entries of a trigram index in a list. The write that fills the list, of any account, sorts all
 * of them into the index, which takes hundreds of milliseconds with a million licenses. This class sorts them earlier,
 * while no caller waits. Searches stay fast as well, because each one reads the whole list.
 */
export class PendingLists {
  readonly #query: (query: { text: string; values: unknown[] }) => Promise<pg.QueryResult>
  #timer: NodeJS.Timeout | undefined
  /** Whether something was written since the sorting began. */
  #isDue = false
  #hasEnded = false

  constructor(query: (query: { text: string; values: unknown[] }) => Promise<pg.QueryResult>) {
    this.#query = query
  }

  /** Sorts soon, and not more often than once per second. */
  noteWrite(): void {
    this.#isDue = true
    if (this.#timer || this.#hasEnded) return
    this.#timer = setTimeout(async () => {
      this.#isDue = false
      // After a failure the next write starts it again.
      await this.#query({ text: clean, values: [] }).catch(() => {})
      this.#timer = undefined
      if (this.#isDue) this.noteWrite()
    }, afterMs)
    this.#timer.unref()
  }

  end(): void {
    this.#hasEnded = true
    clearTimeout(this.#timer)
  }
}
