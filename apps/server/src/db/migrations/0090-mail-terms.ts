import type { Migration } from '../migrate.ts'

/** Who may mail buyers where anyone can register, how many a day, and which mails of orders wait. */
export const mailTerms: Migration = {
  name: '0090-mail-terms',
  statements: () => [
    'alter table owners add column max_mails bigint',
    'alter table owners add column mails_trusted integer not null default 0',
    'alter table shop_orders add column mail_waits_for text',
    "create index shop_orders_waiting_mail on shop_orders (owner_id, seq) where mail = 'waiting'",
    // Vendors that have mailed buyers or customers, and those that the operator made.
    `update owners set mails_trusted = 1
      where exists (select 1 from buyer_mails b where b.owner_id = owners.id)
        or exists (select 1 from mails m where m.owner_id = owners.id and m.customer_id is not null)
        or exists (select 1 from audit a where a.owner_id = owners.id and a.action = 'owner.registered'
          and a.actor_kind = 'operator')`,
  ],
}
