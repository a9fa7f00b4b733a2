import type { Migration } from '../migrate.ts'

const licenseColumns = [
  "term text not null default 'date'",
  'duration_value integer',
  'duration_unit text',
  'started_at bigint',
  'grace_days integer not null default 0',
  'devices integer not null default 1',
  'seats integer',
  'seat_timeout_seconds integer not null default 600',
  "features text not null default '[]'",
  'updates_for_days integer',
  'trial integer not null default 0',
  'type_id text',
]

/** Terms, devices, seats and features of licenses, and the types that licenses are generated from. */
export const licenseTerms: Migration = {
  name: '0013-license-terms',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const text = isPostgres ? 'text collate "C"' : 'text'
    const seq = isPostgres ? 'bigint generated always as identity primary key' : 'integer primary key'
    return [
      ...licenseColumns.map((column) => `alter table licenses add column ${column}`),
      'create index licenses_type on licenses (type_id, seq) where type_id is not null',
      'alter table clients add column grace_days integer not null default 0',
      'alter table apps add column sdkless_init_at bigint',
      `create table license_types (
        seq ${seq},
        id ${text} not null unique,
        owner_id ${text} not null references owners (id) on delete cascade,
        app_id ${text} not null references apps (id) on delete cascade,
        name text not null,
        name_normalized ${text} not null,
        term text not null,
        duration_value integer,
        duration_unit text,
        grace_days integer not null,
        devices integer not null,
        seats integer,
        seat_timeout_seconds integer not null,
        features text not null,
        updates_for_days integer,
        trial integer not null,
        key_prefix text,
        resellable integer not null,
        created_at bigint not null,
        unique (app_id, name_normalized)
      )`,
      'create index license_types_app on license_types (app_id, seq)',
      'create index license_types_owner on license_types (owner_id)',
    ]
  },
}
