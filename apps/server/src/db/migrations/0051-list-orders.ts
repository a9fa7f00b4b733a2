import type { Migration } from '../migrate.ts'

/** Sorts licenses and end users by their end, and lists the licenses of a type. */
export const listOrders: Migration = {
  name: '0051-list-orders',
  statements: (dialect) => [
    // SQLite's indexes end with `seq` anyway.
    ...(dialect === 'postgres' ? withSeq : []),
    ...['owner', 'app'].map(
      (by) =>
        `create index licenses_${by}_banned_expiry on licenses (${by}_id, expires_at, seq) where banned = 1`,
    ),
    'drop index licenses_type',
    'create index licenses_type on licenses (type_id, seq, used, expires_at) where type_id is not null',
    `create index licenses_type_expiry on licenses (type_id, used, expires_at, seq) where type_id is not null`,
  ],
}

const withSeq = [
  ['licenses', 'used'],
  ['clients', 'banned'],
].flatMap(([table, flag]) =>
  ['owner', 'app'].flatMap((by) => [
    `drop index ${table}_${by}_expiry`,
    `create index ${table}_${by}_expiry on ${table} (${by}_id, ${flag}, expires_at, seq)`,
  ]),
)
