import type { Migration } from '../migrate.ts'

/** Adds mail settings of people, the time of each vendor's next scan, and the news already mailed. */
export const notifications: Migration = {
  name: '0049-notifications',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table accounts add column new_sign_in_mail integer not null default 1',
      'alter table accounts add column confirmed_email text',
      `create table notification_settings (
        account_id ${t} not null references accounts (id) on delete cascade,
        owner_id ${t} not null references owners (id) on delete cascade,
        keys_running_out integer not null default 0,
        quota_running_out integer not null default 0,
        licenses_expiring integer not null default 0,
        refusals_rising integer not null default 0,
        webhook_failing integer not null default 1,
        orders_waiting integer not null default 0,
        weekly_summary integer not null default 0,
        primary key (account_id, owner_id)
      )`,
      'create index notification_settings_owner on notification_settings (owner_id)',
      `create table notification_scans (
        owner_id ${t} primary key references owners (id) on delete cascade,
        next_at bigint not null
      )`,
      'create index notification_scans_next on notification_scans (next_at, owner_id)',
      `create table notification_marks (
        account_id ${t} not null references accounts (id) on delete cascade,
        owner_id ${t} not null references owners (id) on delete cascade,
        kind ${t} not null,
        subject ${t} not null,
        holds integer not null,
        sent_at bigint not null,
        primary key (owner_id, account_id, kind, subject)
      )`,
      'create index notification_marks_account on notification_marks (account_id)',
    ]
  },
}
