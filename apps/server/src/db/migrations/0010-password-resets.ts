import type { Migration } from '../migrate.ts'

/** Reset links: of an owner, or with `reseller_id` of one of its resellers. */
export const passwordResets: Migration = {
  name: '0010-password-resets',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table password_resets (
        id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        reseller_id ${t} references resellers (id) on delete cascade,
        token_hash ${t} not null unique,
        created_at bigint not null,
        expires_at bigint not null
      )`,
      'create index password_resets_owner on password_resets (owner_id)',
      'create index password_resets_reseller on password_resets (reseller_id) where reseller_id is not null',
      'create index password_resets_expiry on password_resets (expires_at)',
    ]
  },
}
