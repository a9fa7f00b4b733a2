import type { Migration } from '../migrate.ts'

/** The objects that a record concerns besides its subject: changes of several objects name no single one (ADR 71). */
export const auditObjects: Migration = {
  name: '0054-audit-objects',
  statements: (dialect) => (dialect === 'postgres' ? postgres : sqlite),
}

// A foreign key would check every row.

const sqlite = [
  'create table audit_lists (seq integer primary key, objects text not null)',
  // Housekeeping fills it, many lists at a time.
  `create table audit_objects (
    object_id text not null,
    seq integer not null,
    primary key (object_id, seq)
  ) without rowid`,
  `create trigger audit_objects_removed after delete on audit begin
    delete from audit_objects where seq = old.seq
      and object_id in (select o.value from audit_lists l, json_each(l.objects) o where l.seq = old.seq);
    delete from audit_lists where seq = old.seq;
  end`,
]

const postgres = [
  `create table audit_objects (
    seq bigint not null,
    object_id text collate "C" not null
  )`,
  'create index audit_objects_seq on audit_objects (seq)',
  'create index audit_objects_object on audit_objects (object_id, seq)',
  `create function audit_objects_removed() returns trigger language plpgsql as $$
  begin
    delete from audit_objects where seq in (select seq from removed);
    return null;
  end $$`,
  `create trigger audit_objects_removed after delete on audit
    referencing old table as removed for each statement execute function audit_objects_removed()`,
]
