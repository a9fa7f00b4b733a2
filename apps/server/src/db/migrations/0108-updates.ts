import type { Migration } from '../migrate.ts'

/** The oldest version of an app that may run, and who may read its feeds of updates. */
export const updates: Migration = {
  name: '0108-updates',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `alter table apps add column minimum_version ${t}`,
      'alter table apps add column public_updates integer not null default 0',
      // 0 without releases, so that most checks look at none.
      'alter table apps add column releases_version integer not null default 0',
      'update apps set releases_version = 1 where exists (select 1 from releases r where r.app_id = apps.id)',
    ]
  },
}
