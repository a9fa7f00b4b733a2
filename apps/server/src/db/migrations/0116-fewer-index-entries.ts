import type { Migration } from '../migrate.ts'

const counts = {
  license_counts: 'bucket, used, banned',
  license_blocks: 'block, used, banned',
  client_counts: 'bucket, banned',
  client_blocks: 'block, banned',
}

/**
 * Leaves counts out of the indexes of owners, as 0103 did for days, and drops the index that only a deletion of old
 * records used: every write paid for both.
 */
export const fewerIndexEntries: Migration = {
  name: '0116-fewer-index-entries',
  statements: () => [
    'drop index audit_created',
    ...Object.entries(counts).flatMap(([table, keys]) => [
      `drop index ${table}_owner`,
      `create index ${table}_owner on ${table} (owner_id, ${keys})`,
    ]),
  ],
}
