import type { Migration } from '../migrate.ts'

/** Mails with keys that were made by hand, and what orders took, gave back and will take, with sums for every time zone. */
export const sales: Migration = {
  name: '0110-sales',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const end = isPostgres ? '' : ' without rowid'
    return [
      `create table license_mails (
        license_id ${t} primary key references licenses (id) on delete cascade,
        owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade,
        customer_id ${t} not null,
        batch_id ${t} not null,
        mail ${t} not null,
        mail_waits_for ${t}
      )${end}`,
      'create index license_mails_batch on license_mails (batch_id)',
      'create index license_mails_app on license_mails (app_id)',
      'create index license_mails_owner on license_mails (owner_id)',
      `create index license_mails_waiting on license_mails (owner_id, batch_id) where mail = 'waiting'`,
      `create table sale_entries (
        order_id ${t} not null references shop_orders (id) on delete cascade,
        place integer not null,
        app_id ${t} not null references apps (id) on delete cascade,
        shop_id ${t} not null,
        kind ${t} not null,
        at bigint not null,
        currency ${t} not null,
        product ${t} not null,
        amount bigint not null,
        primary key (order_id, place)
      )${end}`,
      'create index sale_entries_app on sale_entries (app_id, at)',
      `create table sales (
        app_id ${t} not null references apps (id) on delete cascade,
        minutes integer not null,
        at bigint not null,
        currency ${t} not null,
        shop_id ${t} not null,
        product ${t} not null,
        kind ${t} not null,
        n bigint not null,
        amount bigint not null,
        primary key (app_id, minutes, at, currency, shop_id, product, kind)
      )${end}`,
      'alter table shop_orders add column counted integer not null default 0',
      'create index shop_orders_uncounted on shop_orders (seq) where counted = 0',
    ]
  },
}
