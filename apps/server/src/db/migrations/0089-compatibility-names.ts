import type { Migration } from '../migrate.ts'

/** Names that programs of another system have used stay their vendor's, although no app has them any more. */
export const compatibilityNames: Migration = {
  name: '0089-compatibility-names',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      // No foreign key: a name stays taken when its vendor is deleted.
      `create table compatibility_names (
        owner_ref ${t} not null,
        name ${t} not null,
        used_by ${t} not null,
        primary key (owner_ref, name)
      )${dialect === 'postgres' ? '' : ' without rowid'}`,
      `insert into compatibility_names (owner_ref, name, used_by)
        select owner_ref, name, owner_id from compatibility where last_used_at is not null`,
      // The hashes of other systems, which cost more than our own, by their cost.
      `create index clients_imported on clients (app_id, (substr(password_hash, 5, 2)))
        where substr(password_hash, 1, 2) = '$2'`,
    ]
  },
}
