import type { Migration } from '../migrate.ts'

/** What programs did and why they were refused. Without foreign keys: a flush must not fail for a deleted app. */
export const activity: Migration = {
  name: '0020-activity',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const text = isPostgres ? 'text collate "C"' : 'text'
    const seq = isPostgres ? 'bigint generated always as identity primary key' : 'integer primary key'
    return [
      `create table activity (
        seq ${seq},
        reference ${text} not null unique,
        owner_id ${text} not null,
        app_id ${text} not null,
        client_id ${text},
        kind ${text} not null,
        call ${text},
        code ${text},
        subject text,
        address text,
        detail text,
        times integer not null,
        created_at bigint not null,
        last_at bigint not null
      )`,
      'create index activity_owner on activity (owner_id, created_at, seq)',
      'create index activity_app on activity (app_id, created_at, seq)',
      'create index activity_client on activity (client_id, created_at, seq) where client_id is not null',
      'create index activity_code on activity (owner_id, code, created_at, seq) where code is not null',
      `create table activity_counts (
        app_id ${text} primary key,
        owner_id ${text} not null,
        n integer not null
      )`,
      'alter table apps add column activity_days integer not null default 365',
    ]
  },
}
