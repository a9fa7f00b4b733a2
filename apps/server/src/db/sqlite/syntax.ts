import { sql } from 'kysely'
import type { Syntax } from '../engine.ts'

// ADR 14: a transaction keeps all others waiting, so long work runs in short parts.
export const sqliteSyntax: Syntax = {
  parameter: () => '?',
  lower: 'lower_unicode',
  isIn: (column, values) => sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`,
  isAmong: (column, values) =>
    sql<boolean>`${sql.ref(column)} in (select value from json_each(${values}) some)`,
  locksRows: false,
  searchIndex: 'full text',
  indexed: (table, alias, index) => `${table} ${alias} indexed by ${index}`,
  // Several parts in one transaction write fewer pages for each row. More slices than these would let the disk fall
  // behind, fewer would let it rest.
  pace: { partMs: 5, partsMost: 3, pauseMs: 0, unsyncedMost: 4 },
}
