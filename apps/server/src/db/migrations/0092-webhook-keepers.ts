import type { Migration } from '../migrate.ts'

/** Who has got the secret of a webhook. Of earlier webhooks only who saved it last is known. */
export const webhookKeepers: Migration = {
  name: '0092-webhook-keepers',
  statements: () => [
    `alter table webhooks add column keeper_kind text not null default 'person'`,
    `alter table webhooks add column keeper_id text not null default ''`,
    'update webhooks set keeper_kind = maker_kind, keeper_id = maker_id',
  ],
}
