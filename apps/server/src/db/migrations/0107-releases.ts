import type { Migration } from '../migrate.ts'

/** Channel, notes, artifacts, security and withdrawal of a release. */
export const releaseRecords: Migration = {
  name: '0107-releases',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `alter table releases add column channel ${t} not null default 'stable'`,
      `alter table releases add column updates_from ${t}`,
      `alter table releases add column build ${t}`,
      'alter table releases add column withdrawn_at bigint',
      // What security, notes and artifacts take, in UTF-8. The long columns are last: what reads the others does not pass them.
      'alter table releases add column bytes integer not null default 0',
      'alter table releases add column security text',
      'alter table releases add column notes text',
      "alter table releases add column artifacts text not null default '[]'",
      'drop index releases_covered',
      `create index releases_offered on releases (app_id, channel, released_at, seq, version)
        where withdrawn_at is null`,
      'create index releases_security on releases (app_id, released_at) where security is not null',
      // Fixes of releases that were out and are removed: the version, once listed again, keeps its fix.
      `create table removed_fixes (
        app_id ${t} not null references apps (id) on delete cascade,
        version ${t} not null,
        security text not null,
        primary key (app_id, version)
      )`,
    ]
  },
}
