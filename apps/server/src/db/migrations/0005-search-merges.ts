import type { Migration } from '../migrate.ts'

/**
 * SQLite's full-text index rewrites a part of itself once a tenth of it is deleted, which blocks the server for a
 * second or more, repeatedly during mass deletion. Instead, deleted entries stay in it and are not found.
 */
export const searchMerges: Migration = {
  name: '0005-search-merges',
  statements: (dialect) =>
    dialect === 'postgres'
      ? []
      : ['license_search', 'client_search'].map(
          (index) => `insert into ${index} (${index}, rank) values ('deletemerge', 101)`,
        ),
}
