import type { Migration } from '../migrate.ts'

/** Keys of a vendor's own programs. A revoked one stays, because records name it. */
export const apiKeys: Migration = {
  name: '0041-api-keys',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table api_keys (
        id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        key_hash ${t} not null unique,
        hint ${t} not null,
        name ${t} not null,
        permissions ${t} not null,
        apps ${t},
        networks ${t} not null,
        expires_at bigint,
        created_by ${t} not null,
        created_at bigint not null,
        last_used_at bigint,
        last_address ${t},
        revoked_at bigint
      )`,
      'create index api_keys_owner on api_keys (owner_id, revoked_at, created_at, id)',
    ]
  },
}
