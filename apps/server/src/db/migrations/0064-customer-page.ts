import type { Migration } from '../migrate.ts'

/** The page on which customers of an app help themselves: its settings, its sessions and its mailed links. */
export const customerPage: Migration = {
  name: '0064-customer-page',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    const opened = `id ${t} primary key,
        owner_id ${t} not null,
        app_id ${t} not null references apps (id) on delete cascade,
        token_hash ${t} not null unique,
        subject_id ${t} not null,
        proof ${t} not null,
        created_at bigint not null,
        expires_at bigint not null`
    return [
      'alter table apps add column customer_page integer not null default 0',
      'alter table apps add column customer_devices integer not null default 3',
      `alter table apps add column brand_color ${t}`,
      `create table customer_sessions (
        ${opened},
        kind ${t} not null,
        by_mail integer not null default 0
      )`,
      `create table customer_links (
        ${opened},
        kind ${t} not null
      )`,
      ...['customer_sessions', 'customer_links'].flatMap((table) => [
        `create index ${table}_app on ${table} (app_id)`,
        `create index ${table}_subject on ${table} (subject_id, created_at)`,
        `create index ${table}_expiry on ${table} (expires_at)`,
      ]),
    ]
  },
}
