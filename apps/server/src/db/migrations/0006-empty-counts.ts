import type { Migration } from '../migrate.ts'

const tables = {
  license_counts: 'app_id, bucket, used, banned',
  license_blocks: 'app_id, block, used, banned',
  client_counts: 'app_id, bucket, banned',
  client_blocks: 'app_id, block, banned',
}

/** Indexes counts of zero, so that housekeeping deletes them without a scan. */
export const emptyCounts: Migration = {
  name: '0006-empty-counts',
  statements: () =>
    Object.entries(tables).map(
      ([table, key]) => `create index ${table}_empty on ${table} (${key}) where n = 0`,
    ),
}
