import type { Migration } from '../migrate.ts'

/** A key as people type it; `db/typed-keys.ts` uses the same expression, which the index requires. */
const typed = "replace(replace(replace(key_normalized, 'O', '0'), 'I', '1'), 'L', '1')"

/** The time that added keys gave, the lookup of keys as people type them, and the comparison of lookalike names. */
export const addedTime: Migration = {
  name: '0017-added-time',
  statements: (dialect) => [
    'alter table licenses add column added_ms bigint',
    'alter table licenses add column taken_ms bigint',
    // An added key gave the time that it had left; what it gave was not stored before.
    `update licenses set added_ms = case when expires_at > used_at then expires_at - used_at else 0 end
      where used = 1 and used_at is not null and client_id is not null and exists (
        select 1 from clients c
        where c.id = licenses.client_id and (c.license_id is null or c.license_id <> licenses.id))`,
    // Older keys may be equal as people type them: these match exactly only.
    'alter table licenses add column key_twin integer not null default 0',
    `update licenses set key_twin = 1 where (app_id, ${typed}) in (
      select app_id, ${typed} from licenses group by 1, 2 having count(*) > 1)`,
    `create unique index licenses_key_typed on licenses (app_id, (${typed})) where key_twin = 0`,
    `create index licenses_key_twins on licenses (app_id, (${typed})) where key_twin = 1`,
    // Empty for a name that is not compared. Housekeeping fills the names of older end users.
    `alter table clients add column name_skeleton text${dialect === 'postgres' ? ' collate "C"' : ''}`,
    `create unique index clients_name_skeleton on clients (app_id, name_skeleton)
      where name_skeleton <> ''`,
    `create index clients_name_pending on clients (seq)
      where name_skeleton is null and password_hash is not null`,
  ],
}
