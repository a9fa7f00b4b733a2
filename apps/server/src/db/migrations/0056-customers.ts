import type { Migration } from '../migrate.ts'

/** The people that a vendor sells to, one for each address, and what belongs to them. */
export const customers: Migration = {
  name: '0056-customers',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const sequence = isPostgres
      ? 'bigint generated always as identity primary key'
      : 'integer primary key autoincrement'
    const linked = (table: string, onDelete: string) => [
      `alter table ${table} add column customer_id ${t} references customers (id) on delete ${onDelete}`,
      `create index ${table}_customer on ${table} (customer_id) where customer_id is not null`,
    ]
    return [
      `create table customers (
        seq ${sequence},
        id ${t} not null unique,
        owner_id ${t} not null references owners (id) on delete cascade,
        email text not null,
        email_normalized ${t} not null,
        name text,
        note text,
        created_at bigint not null
      )`,
      'create unique index customers_email on customers (owner_id, email_normalized)',
      'create index customers_owner on customers (owner_id, seq)',
      ...linked('licenses', 'set null'),
      ...linked('clients', 'set null'),
      ...linked('mails', 'cascade'),
      // Finds the addresses that programs have sent, to erase a person.
      'create index clients_email on clients (owner_id, lower(email)) where email is not null',
      ...(isPostgres ? [] : [renamed]),
    ]
  },
}

/** The full-text index follows changes of names and addresses, see migration 0050. */
const renamed = `create trigger clients_renamed after update of username_normalized, email on clients begin
  delete from client_search where rowid = new.seq;
  insert into client_search (rowid, body) values (new.seq,
    new.username_normalized || coalesce(' ' || new.email, '') || coalesce((select ' ' || group_concat(d.name, ' ')
      from devices d where d.client_id = new.id and d.name is not null), ''));
end`
