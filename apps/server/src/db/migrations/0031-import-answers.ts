import type { Migration } from '../migrate.ts'

/** Imports with an Idempotency-Key: their stored answer, and the rows that did not become licenses. */
export const importAnswers: Migration = {
  name: '0031-import-answers',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `alter table imports add column answer_id ${t}`,
      'create unique index imports_answer on imports (answer_id)',
      `create table import_skips (
        import_id ${t} not null references imports (id) on delete cascade,
        key ${t} not null,
        message text not null,
        primary key (import_id, key)
      )`,
    ]
  },
}
