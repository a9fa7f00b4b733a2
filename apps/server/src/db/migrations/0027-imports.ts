import type { Migration } from '../migrate.ts'

/** Imports that are stored, and are added to the licenses slice by slice. */
export const imports: Migration = {
  name: '0027-imports',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table imports (
        id ${t} primary key,
        owner_id ${t} not null,
        app_id ${t} not null references apps (id) on delete cascade,
        session_id ${t} not null,
        address ${t} not null,
        column_names ${t} not null,
        count integer not null,
        created_at bigint not null
      )`,
      'create index imports_app on imports (app_id)',
      `create table import_chunks (
        import_id ${t} not null references imports (id) on delete cascade,
        part integer not null,
        n integer not null,
        content ${t} not null,
        primary key (import_id, part)
      )`,
    ]
  },
}
