import type { Migration } from '../migrate.ts'

/** Variables of apps and end users, released versions, and the SDKs that programs name. */
export const variablesAndReleases: Migration = {
  name: '0018-variables-and-releases',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const seq = isPostgres ? 'bigint generated always as identity primary key' : 'integer primary key'
    return [
      // Null without variables, so that most checks read nothing more.
      `alter table apps add column variables_revision ${t}`,
      `alter table clients add column variables_revision ${t}`,
      `create table app_variables (
        app_id ${t} primary key references apps (id) on delete cascade,
        revision ${t} not null,
        sealed text not null
      )`,
      `create table client_variables (
        client_id ${t} primary key references clients (id) on delete cascade,
        revision ${t} not null,
        sealed text not null
      )`,
      `create table releases (
        seq ${seq},
        id ${t} not null unique,
        owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade,
        version ${t} not null,
        released_at bigint not null,
        link text,
        created_at bigint not null,
        unique (app_id, version)
      )`,
      'create index releases_owner on releases (owner_id)',
      // The version of the program that opened the session.
      'alter table client_sessions add column version text',
      `create table app_sdks (
        app_id ${t} not null references apps (id) on delete cascade,
        sdk ${t} not null,
        first_seen_at bigint not null,
        primary key (app_id, sdk)
      )`,
    ]
  },
}
