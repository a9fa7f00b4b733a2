import type { Migration } from '../migrate.ts'

/** Activation files that run outside of a stored license count on a limited plan; those of deleted end users are kept. */
export const offlineLimits: Migration = {
  name: '0037-offline-limits',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table deleted_files (
        id ${t} primary key,
        app_id ${t} not null references apps (id) on delete cascade,
        expires_at bigint not null
      )`,
      'create index deleted_files_app on deleted_files (app_id, expires_at)',
      'create index deleted_files_end on deleted_files (expires_at)',
      `create index clients_unlicensed_offline on clients (app_id, activation_until)
        where license_id is null and activation_until is not null`,
      `create index offline_activations_freed on offline_activations (app_id, until)
        where device_id is null and ended_by is null`,
    ]
  },
}
