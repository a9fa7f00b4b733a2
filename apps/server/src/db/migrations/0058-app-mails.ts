import type { Migration } from '../migrate.ts'

/** The mail that the buyers of an app get with their keys, by language. */
export const appMails: Migration = {
  name: '0058-app-mails',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table app_mails (
        app_id ${t} not null references apps (id) on delete cascade,
        locale ${t} not null,
        subject text not null,
        text text not null,
        html text,
        from_name text,
        reply_to text,
        primary key (app_id, locale)
      )`,
    ]
  },
}
