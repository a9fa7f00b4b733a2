import type { Migration } from '../migrate.ts'

/** Mails to customers: which ones an app sends, their texts by kind, what was sent, and who wants none. */
export const customerMails: Migration = {
  name: '0106-customer-mails',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const sequence = isPostgres
      ? 'bigint generated always as identity primary key'
      : 'integer primary key autoincrement'
    return [
      `create table customer_mail_settings (
        app_id ${t} primary key references apps (id) on delete cascade,
        ends_soon_days text not null,
        ended_since bigint,
        updates_end_soon integer not null,
        payment_failed integer not null,
        renewed integer not null,
        look_at bigint
      )`,
      `insert into customer_mail_settings select id, '[]', null, 0, 0, 0, null from apps`,
      'create index customer_mail_settings_look on customer_mail_settings (look_at) where look_at is not null',
      `create table customer_mails (
        seq ${sequence},
        id ${t} not null unique,
        owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade,
        customer_id ${t} not null references customers (id) on delete cascade,
        license_id ${t},
        subject ${t} not null,
        kind ${t} not null,
        until bigint not null,
        days integer not null,
        detail text not null,
        state ${t} not null,
        ends_at bigint not null,
        created_at bigint not null,
        done_at bigint,
        kept_until bigint
      )`,
      'create unique index customer_mails_once on customer_mails (subject, kind, until, days)',
      `create index customer_mails_waiting on customer_mails (owner_id, ends_at, seq) where state = 'waiting'`,
      'create index customer_mails_app on customer_mails (app_id, seq)',
      'create index customer_mails_owner on customer_mails (owner_id, seq)',
      'create index customer_mails_customer on customer_mails (customer_id, seq)',
      'create index customer_mails_kept on customer_mails (kept_until) where kept_until is not null',
      'alter table customers add column mails integer not null default 1',
      `alter table customers add column mail_token ${t}`,
      'create unique index customers_mail_token on customers (mail_token) where mail_token is not null',
      'alter table buyer_mails add column customer_place bigint not null default 0',
      'alter table shop_orders add column renews integer not null default 0',
      `update shop_orders set renews = 1 where state in ('fulfilled', 'waiting')
        and exists (select 1 from shop_order_units u where u.order_id = shop_orders.id and u.told_end is not null)
        and not exists (select 1 from shop_events e where e.order_id = shop_orders.id
          and (e.fact like '%"kind":"ended"%' or e.fact like '%"kind":"payment_failed"%'))`,
      `create table app_mails_next (
        app_id ${t} not null references apps (id) on delete cascade,
        kind ${t} not null,
        locale ${t} not null,
        subject text not null,
        text text not null,
        html text,
        from_name text,
        reply_to text,
        primary key (app_id, kind, locale)
      )`,
      `insert into app_mails_next select app_id, 'purchase', locale, subject, text, html, from_name, reply_to from app_mails`,
      'drop table app_mails',
      'alter table app_mails_next rename to app_mails',
    ]
  },
}
