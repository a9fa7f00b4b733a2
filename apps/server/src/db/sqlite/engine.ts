// ADR 2: what SQLite does in its own way.
import { sql } from 'kysely'
import type { Database, Engine, FeedOptions, Syntax } from '../engine.ts'
import type { SqliteReader } from './handle.ts'
import type { ListThreads } from './list-threads.ts'

/** The embedded database, which this process alone serves. */
export const sqliteEngine = (
  reader: SqliteReader,
  db: Database['db'],
  threads: Pick<ListThreads, 'waiting'>,
): Engine => ({
  // They run on the server's thread, and checks wait for all that have begun.
  programWritesMost: 4,
  prepareRead: (_name, text) => reader.prepareRow(text),
  commits: reader,
  waitingLists: () => threads.waiting,
  probe: () => db.selectNoFrom((eb) => eb.lit(1).as('n')).execute(),
  openFeed: ({ onMessage }: FeedOptions) => ({
    start: async () => {},
    send: (messages) => {
      for (const message of messages) onMessage(message)
    },
    stop: async () => {},
  }),
  updateStatistics: async () => [],
})

// ADR 14: a transaction keeps all others waiting, so long work runs in short parts.
export const sqliteSyntax: Syntax = {
  parameter: () => '?',
  lower: 'lower_unicode',
  isIn: (column, values) => sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`,
  isAmong: (column, values) =>
    sql<boolean>`${sql.ref(column)} in (select value from json_each(${values}) some)`,
  locksRows: false,
  searchIndex: 'full text',
  inBytes: (text) => text,
  indexed: (table, alias, index) => `${table} ${alias} indexed by ${index}`,
  // Several parts in one transaction write fewer pages for each row. More slices than these would let the disk fall
  // behind, fewer would let it rest.
  pace: { partMs: 5, partsMost: 3, pauseMs: 0, unsyncedMost: 4 },
}
