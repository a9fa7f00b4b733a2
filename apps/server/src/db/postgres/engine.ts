// ADR 2: what PostgreSQL does in its own way.
import type { Database, Engine } from '../engine.ts'
import { PostgresFeed } from './feed.ts'
import type { PostgresPool } from './pool.ts'
import { analyzeTables } from './statistics.ts'

/** PostgreSQL, which several nodes may share. */
export const postgresEngine = (pool: PostgresPool, url: string, db: Database['db']): Engine => ({
  programWritesMost: 32,
  prepareRead: (name, text) => {
    let position = 0
    const numbered = text.replaceAll('?', () => `$${++position}`)
    return pool.reader(name, numbered)
  },
  commits: undefined,
  // On a connection of the checks, because slow statements may occupy all others.
  probe: pool.reader('ready', 'select 1 as n'),
  connections: () => pool.connections(),
  openFeed: (options) => new PostgresFeed({ ...options, url, pool }),
  updateStatistics: () => analyzeTables(db),
})
