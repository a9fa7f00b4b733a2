import type { Migration } from '../migrate.ts'

/** The app of a record; members with some apps see only the records of these. */
export const auditApps: Migration = {
  name: '0042-audit-apps',
  statements: (dialect) => [
    `alter table audit add column app_id ${dialect === 'postgres' ? 'text collate "C"' : 'text'}`,
    'create index audit_app on audit (app_id, created_at) where app_id is not null',
  ],
}
