import type { Migration } from '../migrate.ts'

/** Texts of an app by language, and the language that a program named when it opened its session. */
export const messageLocales: Migration = {
  name: '0021-message-locales',
  statements: (dialect) => {
    const text = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table app_messages (
        app_id ${text} not null references apps (id) on delete cascade,
        locale ${text} not null,
        messages text not null,
        primary key (app_id, locale)
      )`,
      'alter table client_sessions add column locale text',
    ]
  },
}
