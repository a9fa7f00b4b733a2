import type { Migration } from '../migrate.ts'

/**
 * Further signing keys of apps. An app has rows here once it made a second key; `apps.signing_*` stays the key that
 * signs for programs that name none, and `signing_version` rises with every change.
 */
export const signingKeys: Migration = {
  name: '0022-signing-keys',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table apps add column signing_version integer not null default 0',
      `create table signing_keys (
        kid ${t} primary key,
        owner_id ${t} not null,
        app_id ${t} not null references apps (id) on delete cascade,
        number integer not null,
        public_key text not null,
        sealed text not null,
        status text not null,
        created_at bigint not null,
        unique (app_id, number)
      )`,
    ]
  },
}
