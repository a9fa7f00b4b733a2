import type { Migration } from '../migrate.ts'

/** Leaves the count of a day out of the index of owners: each new license, end user and sign-in moved an entry. */
export const ownersOfCounts: Migration = {
  name: '0103-owners-of-counts',
  statements: () => [
    'drop index daily_counts_owner',
    'create index daily_counts_owner on daily_counts (owner_id, metric, day)',
  ],
}
