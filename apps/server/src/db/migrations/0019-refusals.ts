import type { Migration } from '../migrate.ts'

/** Block lists, allowed program hashes, pauses of end users, reasons of bans, and the settings of these checks. */
export const refusals: Migration = {
  name: '0019-refusals',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const text = isPostgres ? 'text collate "C"' : 'text'
    const seq = isPostgres ? 'bigint generated always as identity primary key' : 'integer primary key'
    return [
      'alter table apps add column username_min integer not null default 3',
      'alter table apps add column block_vpn integer not null default 0',
      "alter table apps add column vpn_allowed text not null default '[]'",
      'alter table apps add column check_hash integer not null default 0',
      'alter table apps add column check_passwords integer not null default 0',
      'alter table apps add column block_version integer not null default 0',
      'alter table licenses add column ban_reason text',
      'alter table clients add column ban_reason text',
      'alter table clients add column paused_at bigint',
      'alter table clients add column last_address text',
      'create index clients_paused on clients (paused_at, expires_at) where paused_at is not null',
      `create table blocklist (
        seq ${seq},
        id ${text} not null unique,
        owner_id ${text} not null references owners (id) on delete cascade,
        app_id ${text} not null references apps (id) on delete cascade,
        kind ${text} not null,
        value text not null,
        value_key ${text} not null,
        reason text,
        created_at bigint not null,
        unique (app_id, kind, value_key)
      )`,
      'create index blocklist_app on blocklist (app_id, seq)',
      'create index blocklist_owner on blocklist (owner_id)',
      `create table program_hashes (
        app_id ${text} not null references apps (id) on delete cascade,
        version ${text} not null,
        hash ${text} not null,
        position integer not null,
        primary key (app_id, version, hash)
      )`,
    ]
  },
}
