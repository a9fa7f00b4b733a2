import type { Migration } from '../migrate.ts'

/** The devices of end users, app settings on devices, and the hardware ids that are bound already as devices. */
export const devices: Migration = {
  name: '0015-devices',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table apps add column require_hwid integer not null default 0',
      'alter table apps add column require_activation integer not null default 0',
      'alter table apps add column device_tolerance integer not null default 1',
      'alter table apps add column device_self_service integer not null default 0',
      'alter table apps add column device_cooldown_hours integer not null default 168',
      'alter table clients add column device_count integer not null default 0',
      'alter table clients add column device_freed_at bigint',
      `create table devices (
        id ${t} primary key,
        owner_id ${t} not null,
        app_id ${t} not null references apps (id) on delete cascade,
        client_id ${t} not null references clients (id) on delete cascade,
        hwid text not null,
        hwid_hash ${t} not null,
        name text,
        system text,
        part_machine ${t},
        part_board ${t},
        part_disk ${t},
        part_network ${t},
        drifts integer not null default 0,
        drifting_since bigint,
        first_seen_at bigint not null,
        last_seen_at bigint not null,
        unique (client_id, hwid_hash)
      )`,
      'create index devices_app on devices (app_id)',
      `insert into devices (id, owner_id, app_id, client_id, hwid, hwid_hash, first_seen_at, last_seen_at)
        select 'dev_' || substr(id, 5), owner_id, app_id, id, hwid, hwid_hash, created_at,
          coalesce(last_login_at, created_at)
        from clients where hwid is not null and hwid_hash is not null`,
      'update clients set device_count = 1 where hwid is not null and hwid_hash is not null',
    ]
  },
}
