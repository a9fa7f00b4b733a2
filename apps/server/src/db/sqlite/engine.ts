// ADR 2: what SQLite does in its own way.
import type { Database, Engine, FeedOptions } from '../engine.ts'
import type { SqliteHandles } from './dialect.ts'
import type { ListThreads } from './list-threads.ts'

/** The embedded database, which this process alone serves. */
export const sqliteEngine = (
  handles: SqliteHandles,
  db: Database['db'],
  threads: Pick<ListThreads, 'waiting'>,
): Engine => ({
  // They run on the server's thread, and checks wait for all that have begun.
  programWritesMost: 4,
  prepareRead: (_name, text) => handles.reader.prepareRow(text),
  commits: {
    read: () => handles.reader.countCommits(),
    prepareRead: (text) => handles.reader.prepareRow(text),
  },
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
