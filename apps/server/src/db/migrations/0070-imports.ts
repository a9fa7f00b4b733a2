import type { Migration } from '../migrate.ts'

/** Imports of the data of other systems: their files, while they are needed, and what became of each row. */
export const dataImports: Migration = {
  name: '0070-imports',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    const sequence =
      dialect === 'postgres'
        ? 'bigint generated always as identity primary key'
        : 'integer primary key autoincrement'
    const counts = ['row_count', 'done', 'created', 'licenses', 'clients', 'skipped', 'failed', 'kept']
    const ofImport = `import_id ${t} not null references data_imports (id) on delete cascade,
        app_id ${t} not null`
    return [
      `create table data_imports (
        seq ${sequence},
        id ${t} not null unique,
        owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade,
        actor_kind ${t} not null,
        actor_id ${t} not null,
        session_id ${t} not null,
        address ${t} not null,
        preset ${t} not null,
        mapping text not null,
        answers text not null default '{}',
        questions text not null default '[]',
        state ${t} not null,
        dry_run integer not null default 1,
        is_read integer not null default 0,
        ${counts.map((name) => `${name} integer not null default 0`).join(',\n        ')},
        problem text,
        claim ${t},
        claimed_until bigint,
        files_until bigint,
        kept_until bigint not null,
        created_at bigint not null,
        finished_at bigint
      )`,
      'create index data_imports_owner on data_imports (owner_id, seq)',
      'create index data_imports_app on data_imports (app_id, seq)',
      'create index data_imports_due on data_imports (claimed_until) where claimed_until is not null',
      'create index data_imports_files on data_imports (files_until) where files_until is not null',
      'create index data_imports_kept on data_imports (kept_until)',
      `create table data_import_files (
        id ${t} primary key,
        ${ofImport},
        name text not null,
        bytes bigint not null,
        created_at bigint not null
      )`,
      'create unique index data_import_files_name on data_import_files (import_id, name)',
      'create index data_import_files_app on data_import_files (app_id)',
      `create table data_import_parts (
        file_id ${t} not null,
        part integer not null,
        ${ofImport},
        sealed text not null,
        primary key (file_id, part)
      )`,
      'create index data_import_parts_import on data_import_parts (import_id, file_id)',
      'create index data_import_parts_app on data_import_parts (app_id)',
      `create table data_import_rows (
        ${ofImport},
        n integer not null,
        unit integer not null,
        file text not null,
        line integer not null,
        kind ${t} not null,
        name text not null,
        content text,
        outcome ${t},
        message text,
        license_id ${t},
        client_id ${t},
        primary key (import_id, n)
      )`,
      'create index data_import_rows_outcome on data_import_rows (import_id, outcome, n)',
      'create index data_import_rows_app on data_import_rows (app_id)',
      'create index data_import_rows_client on data_import_rows (client_id) where client_id is not null',
      `create table imported_users (
        client_id ${t} primary key references clients (id) on delete cascade,
        email_sha1 ${t} not null
      )`,
    ]
  },
}
