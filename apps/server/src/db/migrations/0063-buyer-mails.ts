import type { Migration } from '../migrate.ts'

/** The language of an order's mail, and how many mails to buyers an owner has queued. */
export const buyerMails: Migration = {
  name: '0063-buyer-mails',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `alter table shop_orders add column locale ${t}`,
      `create table buyer_mails (
        owner_id ${t} primary key references owners (id) on delete cascade,
        place bigint not null
      )`,
    ]
  },
}
