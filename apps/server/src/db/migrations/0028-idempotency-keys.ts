import type { Migration } from '../migrate.ts'

/** Answers to requests with an Idempotency-Key, for repeats. */
export const idempotencyKeys: Migration = {
  name: '0028-idempotency-keys',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table idempotency_keys (
        id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        request_hash ${t} not null,
        answer text not null,
        expires_at bigint not null
      )`,
      'create index idempotency_keys_owner on idempotency_keys (owner_id, expires_at)',
      'create index idempotency_keys_expiry on idempotency_keys (expires_at)',
    ]
  },
}
