import type { Migration } from '../migrate.ts'

const ninetyDaysMs = 90 * 86_400_000

/** Columns and indexes for the limits of plans and sessions. */
export const limits: Migration = {
  name: '0009-limits',
  statements: () => [
    'create index clients_unlicensed on clients (app_id, expires_at) where license_id is null',
    // A session is valid only for the version of the secret that opened it.
    'alter table apps add column secret_version integer not null default 0',
    'alter table client_sessions add column secret_version integer not null default 0',
    ...['owner_sessions', 'reseller_sessions'].map(
      (table) => `update ${table} set expires_at = created_at + ${ninetyDaysMs}
        where expires_at > created_at + ${ninetyDaysMs}`,
    ),
  ],
}
