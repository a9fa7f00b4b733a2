import type { Migration } from '../migrate.ts'

/** A covering index for the counts of a reseller's licenses. */
export const resellerCounts: Migration = {
  name: '0007-reseller-counts',
  statements: () => [
    `create index licenses_reseller_counts on licenses (reseller_id, used, expires_at)
      where reseller_id is not null`,
  ],
}
