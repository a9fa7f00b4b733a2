import type { Migration } from '../migrate.ts'

/** Finds end users by their address and by the names of their devices. */
export const knownNames: Migration = {
  name: '0050-known-names',
  statements: (dialect) => (dialect === 'postgres' ? postgres : sqlite),
}

const indexOf = (table: string, column: string): string[] => {
  const text = `replace(lower(${column}), ' ', 'Q')`
  return [
    `create index ${table}_${column}_search on ${table} using gin ((${text}) gin_trgm_ops) where ${column} is not null`,
    `create statistics ${table}_${column}_text on (${text}) from ${table}`,
    `analyze ${table}`,
  ]
}

const postgres = [...indexOf('clients', 'email'), ...indexOf('devices', 'name')]

/** What the full-text index stores of an end user `c`. */
const body = `c.username_normalized || coalesce(' ' || c.email, '') || coalesce((select ' ' || group_concat(d.name, ' ')
  from devices d where d.client_id = c.id and d.name is not null), '')`

const indexAgain = (row: string) => `
  delete from client_search where rowid = (select seq from clients where id = ${row}.client_id);
  insert into client_search (rowid, body) select c.seq, ${body} from clients c where c.id = ${row}.client_id;`

const sqlite = [
  'drop trigger clients_added',
  `create trigger clients_added after insert on clients begin
    insert into client_counts (app_id, owner_id, bucket, banned, n)
      values (new.app_id, new.owner_id, (new.expires_at + 3599999) / 3600000, new.banned, 1)
      on conflict (app_id, bucket, banned) do update set n = n + 1;
    insert into daily_counts (app_id, owner_id, day, metric, n)
      values (new.app_id, new.owner_id, new.created_at / 86400000, 'clients', 1)
      on conflict (app_id, metric, day) do update set n = n + 1;
    insert into client_search (rowid, body)
      values (new.seq, new.username_normalized || coalesce(' ' || new.email, ''));
  end`,
  `create trigger devices_added after insert on devices when new.name is not null begin ${indexAgain('new')} end`,
  `create trigger devices_renamed after update of name on devices when old.name is not new.name begin
    ${indexAgain('new')}
  end`,
  `create trigger devices_removed after delete on devices when old.name is not null begin ${indexAgain('old')} end`,
  // Deletions of many rows write row ids to the index that are too large for a JavaScript number.
  "insert into client_search (client_search) values ('delete-all')",
  `insert into client_search (rowid, body) select c.seq, ${body} from clients c order by c.seq`,
]
