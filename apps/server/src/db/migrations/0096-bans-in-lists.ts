import type { Migration } from '../migrate.ts'

const notNull = (column: string) => `where ${column} is not null`

/** The indexes of the lists of licenses, and what of a license each holds. */
const indexes = [
  ...['owner', 'app'].flatMap((by) => [
    { name: by, columns: `${by}_id, seq, used, expires_at`, only: '' },
    { name: `${by}_expiry`, columns: `${by}_id, used, expires_at, seq`, only: '' },
  ]),
  { name: 'type', columns: 'type_id, seq, used, expires_at', only: notNull('type_id') },
  { name: 'type_expiry', columns: 'type_id, used, expires_at, seq', only: notNull('type_id') },
  { name: 'reseller_counts', columns: 'reseller_id, used, expires_at, seq', only: notNull('reseller_id') },
]

/** Holds bans in the indexes of lists, so that a filter leaves out banned licenses without reading their rows. */
export const bansInLists: Migration = {
  name: '0096-bans-in-lists',
  statements: () =>
    indexes.flatMap(({ name, columns, only }) => [
      `drop index licenses_${name}`,
      `create index licenses_${name} on licenses (${columns}, banned) ${only}`,
    ]),
}
