import type { Migration } from '../migrate.ts'

/**
 * SQLite's full-text index writes a part of itself anew as soon as a tenth of it is deleted: a second and more, in
 * which everybody waits, again and again while many rows go. What is deleted stays in it instead, and is not found.
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
