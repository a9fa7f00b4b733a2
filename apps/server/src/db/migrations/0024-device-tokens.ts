import type { Migration } from '../migrate.ts'

/** Remembered sign-ins: at most one token per device. */
export const deviceTokens: Migration = {
  name: '0024-device-tokens',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table apps add column remember_days integer not null default 0',
      `create table device_tokens (
        id ${t} primary key,
        owner_id ${t} not null,
        app_id ${t} not null references apps (id) on delete cascade,
        client_id ${t} not null references clients (id) on delete cascade,
        device_id ${t} not null unique references devices (id) on delete cascade,
        token_hash ${t} not null,
        previous_hash ${t},
        created_at bigint not null,
        expires_at bigint not null
      )`,
      'create index device_tokens_app on device_tokens (app_id)',
      'create index device_tokens_client on device_tokens (client_id)',
      'create index device_tokens_expiry on device_tokens (expires_at)',
    ]
  },
}
