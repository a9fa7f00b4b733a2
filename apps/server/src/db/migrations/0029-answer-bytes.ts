import type { Migration } from '../migrate.ts'

/** How much each stored answer takes, so that an account's answers are bounded in bytes; older ones end within a day. */
export const answerBytes: Migration = {
  name: '0029-answer-bytes',
  statements: () => [
    'alter table idempotency_keys add column bytes integer not null default 0',
    'drop index idempotency_keys_owner',
    'create index idempotency_keys_owner on idempotency_keys (owner_id, expires_at, bytes)',
  ],
}
