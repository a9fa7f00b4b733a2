import type { Migration } from '../migrate.ts'

/** Adds the actor's session and address to records; records may concern no single owner. */
export const auditActors: Migration = {
  name: '0011-audit-actors',
  statements: (dialect) =>
    dialect === 'postgres'
      ? [
          'alter table audit alter column owner_id drop not null',
          'alter table audit add column session_id text collate "C", add column address text',
        ]
      : [
          `create table audit_next (
            id text primary key,
            owner_id text references owners (id) on delete cascade,
            actor_kind text not null,
            actor_id text not null,
            session_id text,
            address text,
            action text not null,
            target_id text,
            detail text,
            created_at bigint not null
          )`,
          `insert into audit_next (id, owner_id, actor_kind, actor_id, action, target_id, detail, created_at)
           select id, owner_id, actor_kind, actor_id, action, target_id, detail, created_at from audit`,
          'drop table audit',
          'alter table audit_next rename to audit',
          'create index audit_owner on audit (owner_id, created_at)',
        ],
}
