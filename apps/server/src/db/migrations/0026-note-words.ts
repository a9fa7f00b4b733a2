import type { Migration } from '../migrate.ts'

const text = "replace(lower(note), ' ', 'Q')"

/**
 * On PostgreSQL, a trigram ends with its word, so a search for the words of a common note in another order read all of
 * its licenses. Without statistics of the expression, every text seemed to be rare.
 */
export const noteWords: Migration = {
  name: '0026-note-words',
  statements: (dialect) =>
    dialect === 'sqlite'
      ? []
      : [
          'drop index licenses_note_search',
          `create index licenses_note_search on licenses using gin ((${text}) gin_trgm_ops) where note is not null`,
          `create statistics licenses_note_text on (${text}) from licenses`,
          'analyze licenses',
        ],
}
