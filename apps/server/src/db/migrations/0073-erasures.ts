import type { Migration } from '../migrate.ts'

/** Erasures of customers: those that run, and those that have ended, by a keyed hash of the address. */
export const erasures: Migration = {
  name: '0073-erasures',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const sequence = isPostgres
      ? 'bigint generated always as identity primary key'
      : 'integer primary key autoincrement'
    return [
      `create table erasures (
        seq ${sequence},
        owner_id ${t} not null references owners (id) on delete cascade,
        customer_id ${t} not null,
        email_hash ${t} not null,
        sealed text,
        begun_at bigint not null,
        ended_at bigint,
        sweeps integer not null default 0,
        due_at bigint,
        expires_at bigint not null
      )`,
      'create index erasures_email on erasures (owner_id, email_hash, begun_at)',
      'create index erasures_customer on erasures (customer_id)',
      'create index erasures_due on erasures (due_at) where due_at is not null',
      'create index erasures_expiry on erasures (expires_at)',
    ]
  },
}
