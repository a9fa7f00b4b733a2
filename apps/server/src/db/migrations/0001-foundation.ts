import type { Migration } from '../migrate.ts'

const text = (dialect: 'sqlite' | 'postgres') => (dialect === 'postgres' ? 'text collate "C"' : 'text')

/** On SQLite `seq` is the rowid: the full-text index refers to it, and lists are sorted by it. */
const seq = (dialect: 'sqlite' | 'postgres') =>
  dialect === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key'

function tables(dialect: 'sqlite' | 'postgres'): string[] {
  const t = text(dialect)
  return [
    `create table owners (
      id ${t} primary key,
      name text not null,
      email text not null,
      email_normalized ${t} not null unique,
      password_hash text not null,
      premium_until bigint,
      pause_applications integer not null default 0,
      hwid_lock integer not null default 1,
      app_count integer not null default 0,
      created_at bigint not null
    )`,
    `create table owner_sessions (
      id ${t} primary key,
      owner_id ${t} not null references owners (id) on delete cascade,
      token_hash ${t} not null unique,
      created_at bigint not null,
      expires_at bigint not null
    )`,
    'create index owner_sessions_owner on owner_sessions (owner_id)',
    'create index owner_sessions_expiry on owner_sessions (expires_at)',
    `create table apps (
      seq ${seq(dialect)},
      id ${t} not null unique,
      owner_id ${t} not null references owners (id) on delete cascade,
      app_id ${t} not null unique,
      name text not null,
      secret_sealed text not null,
      secret_hash text not null,
      signing_kid text not null,
      signing_public text not null,
      signing_sealed text not null,
      version text not null,
      paused integer not null default 0,
      hwid_lock integer not null default 1,
      allow_custom_keys integer not null default 0,
      messages text not null default '{}',
      license_count integer not null default 0,
      created_at bigint not null
    )`,
    'create index apps_owner on apps (owner_id, seq)',
    `create table resellers (
      seq ${seq(dialect)},
      id ${t} not null unique,
      owner_id ${t} not null references owners (id) on delete cascade,
      app_id ${t} not null references apps (id) on delete cascade,
      email text not null,
      email_normalized ${t} not null unique,
      password_hash text not null,
      allowed_license_keys integer not null,
      license_count integer not null default 0,
      active integer not null default 1,
      created_at bigint not null
    )`,
    'create index resellers_owner on resellers (owner_id, seq)',
    'create index resellers_app on resellers (app_id, seq)',
    `create table reseller_sessions (
      id ${t} primary key,
      reseller_id ${t} not null references resellers (id) on delete cascade,
      token_hash ${t} not null unique,
      created_at bigint not null,
      expires_at bigint not null
    )`,
    'create index reseller_sessions_reseller on reseller_sessions (reseller_id)',
    'create index reseller_sessions_expiry on reseller_sessions (expires_at)',
    `create table clients (
      seq ${seq(dialect)},
      id ${t} not null unique,
      owner_id ${t} not null references owners (id) on delete cascade,
      app_id ${t} not null references apps (id) on delete cascade,
      license_id ${t},
      username text not null,
      username_normalized ${t} not null,
      email text,
      password_hash text,
      hwid text,
      hwid_hash text,
      banned integer not null default 0,
      expires_at bigint not null,
      last_login_at bigint,
      created_at bigint not null,
      unique (app_id, username_normalized)
    )`,
    'create index clients_owner on clients (owner_id, seq, banned, expires_at)',
    'create index clients_app on clients (app_id, seq, banned, expires_at)',
    'create index clients_owner_expiry on clients (owner_id, banned, expires_at)',
    'create index clients_app_expiry on clients (app_id, banned, expires_at)',
    'create index clients_owner_banned on clients (owner_id, seq) where banned = 1',
    'create index clients_app_banned on clients (app_id, seq) where banned = 1',
    'create index clients_license on clients (license_id) where license_id is not null',
    `create table licenses (
      seq ${seq(dialect)},
      id ${t} not null unique,
      owner_id ${t} not null references owners (id) on delete cascade,
      app_id ${t} not null references apps (id) on delete cascade,
      reseller_id ${t} references resellers (id) on delete set null,
      client_id ${t} references clients (id) on delete set null,
      key ${t} not null,
      key_normalized ${t} not null,
      note text,
      used integer not null default 0,
      used_at bigint,
      banned integer not null default 0,
      expires_at bigint not null,
      created_at bigint not null,
      unique (app_id, key_normalized)
    )`,
    'create index licenses_owner on licenses (owner_id, seq, used, expires_at)',
    'create index licenses_app on licenses (app_id, seq, used, expires_at)',
    'create index licenses_owner_expiry on licenses (owner_id, used, expires_at)',
    'create index licenses_app_expiry on licenses (app_id, used, expires_at)',
    'create index licenses_owner_banned on licenses (owner_id, seq) where banned = 1',
    'create index licenses_app_banned on licenses (app_id, seq) where banned = 1',
    'create index licenses_client on licenses (client_id) where client_id is not null',
    'create index licenses_reseller on licenses (reseller_id, seq) where reseller_id is not null',
    `create table client_sessions (
      id ${t} primary key,
      app_id ${t} not null references apps (id) on delete cascade,
      client_id ${t} references clients (id) on delete cascade,
      token_hash ${t} not null unique,
      hwid_hash text,
      created_at bigint not null,
      expires_at bigint not null
    )`,
    'create index client_sessions_app on client_sessions (app_id)',
    'create index client_sessions_client on client_sessions (client_id) where client_id is not null',
    'create index client_sessions_expiry on client_sessions (expires_at)',
    `create table license_counts (
      app_id ${t} not null references apps (id) on delete cascade,
      owner_id ${t} not null references owners (id) on delete cascade,
      bucket integer not null,
      used integer not null,
      banned integer not null,
      n integer not null,
      primary key (app_id, bucket, used, banned)
    )`,
    'create index license_counts_owner on license_counts (owner_id, bucket, used, banned, n)',
    `create table client_counts (
      app_id ${t} not null references apps (id) on delete cascade,
      owner_id ${t} not null references owners (id) on delete cascade,
      bucket integer not null,
      banned integer not null,
      n integer not null,
      primary key (app_id, bucket, banned)
    )`,
    'create index client_counts_owner on client_counts (owner_id, bucket, banned, n)',
    `create table daily_counts (
      app_id ${t} not null references apps (id) on delete cascade,
      owner_id ${t} not null references owners (id) on delete cascade,
      day integer not null,
      metric ${t} not null,
      n integer not null,
      primary key (app_id, metric, day)
    )`,
    'create index daily_counts_owner on daily_counts (owner_id, metric, day, n)',
    `create table audit (
      id ${t} primary key,
      owner_id ${t} not null references owners (id) on delete cascade,
      actor_kind text not null,
      actor_id text not null,
      action text not null,
      target_id text,
      detail text,
      created_at bigint not null
    )`,
    'create index audit_owner on audit (owner_id, created_at)',
    `create table attempts (
      key ${t} primary key,
      count integer not null,
      window_ends bigint not null
    )`,
    'create index attempts_end on attempts (window_ends)',
  ]
}

// Hours, rounded up, so that the many expiries at the last moment of a day fall into the bucket that ends there.
const bucket = (row: string) => `(${row}.expires_at + 3599999) / 3600000`

const sqliteCounting = [
  `create trigger apps_added after insert on apps begin
    update owners set app_count = app_count + 1 where id = new.owner_id;
  end`,
  `create trigger apps_removed after delete on apps begin
    update owners set app_count = app_count - 1 where id = old.owner_id;
  end`,
  `create trigger licenses_added after insert on licenses begin
    insert into license_counts (app_id, owner_id, bucket, used, banned, n)
      values (new.app_id, new.owner_id, ${bucket('new')}, new.used, new.banned, 1)
      on conflict (app_id, bucket, used, banned) do update set n = n + 1;
    insert into daily_counts (app_id, owner_id, day, metric, n)
      values (new.app_id, new.owner_id, new.created_at / 86400000, 'licenses', 1)
      on conflict (app_id, metric, day) do update set n = n + 1;
    update apps set license_count = license_count + 1 where id = new.app_id;
    update resellers set license_count = license_count + 1 where id = new.reseller_id;
    insert into license_search (rowid, body) values (new.seq, new.key_normalized || ' ' || coalesce(new.note, ''));
  end`,
  `create trigger licenses_changed after update of used, banned, expires_at on licenses
    when old.used <> new.used or old.banned <> new.banned or old.expires_at <> new.expires_at begin
    update license_counts set n = n - 1
      where app_id = old.app_id and bucket = ${bucket('old')} and used = old.used and banned = old.banned;
    insert into license_counts (app_id, owner_id, bucket, used, banned, n)
      values (new.app_id, new.owner_id, ${bucket('new')}, new.used, new.banned, 1)
      on conflict (app_id, bucket, used, banned) do update set n = n + 1;
  end`,
  `create trigger licenses_noted after update of note on licenses begin
    delete from license_search where rowid = old.seq;
    insert into license_search (rowid, body) values (new.seq, new.key_normalized || ' ' || coalesce(new.note, ''));
  end`,
  `create trigger licenses_removed after delete on licenses begin
    update license_counts set n = n - 1
      where app_id = old.app_id and bucket = ${bucket('old')} and used = old.used and banned = old.banned;
    update apps set license_count = license_count - 1 where id = old.app_id;
    update resellers set license_count = license_count - 1 where id = old.reseller_id;
    delete from license_search where rowid = old.seq;
  end`,
  `create trigger clients_added after insert on clients begin
    insert into client_counts (app_id, owner_id, bucket, banned, n)
      values (new.app_id, new.owner_id, ${bucket('new')}, new.banned, 1)
      on conflict (app_id, bucket, banned) do update set n = n + 1;
    insert into daily_counts (app_id, owner_id, day, metric, n)
      values (new.app_id, new.owner_id, new.created_at / 86400000, 'clients', 1)
      on conflict (app_id, metric, day) do update set n = n + 1;
    insert into client_search (rowid, body) values (new.seq, new.username_normalized);
  end`,
  `create trigger clients_changed after update of banned, expires_at on clients
    when old.banned <> new.banned or old.expires_at <> new.expires_at begin
    update client_counts set n = n - 1
      where app_id = old.app_id and bucket = ${bucket('old')} and banned = old.banned;
    insert into client_counts (app_id, owner_id, bucket, banned, n)
      values (new.app_id, new.owner_id, ${bucket('new')}, new.banned, 1)
      on conflict (app_id, bucket, banned) do update set n = n + 1;
  end`,
  `create trigger clients_removed after delete on clients begin
    update client_counts set n = n - 1
      where app_id = old.app_id and bucket = ${bucket('old')} and banned = old.banned;
    delete from client_search where rowid = old.seq;
  end`,
]

const sqliteSearch = ['license_search', 'client_search'].map(
  (name) =>
    `create virtual table ${name} using fts5 (body, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram')`,
)

const added = 'referencing new table as added for each statement'
const changed = 'referencing old table as was new table as became for each statement'
const removed = 'referencing old table as removed for each statement'

function postgresTrigger(table: string, event: string, tables: string, body: string): string[] {
  const name = `${table}_${event}_counting`
  return [
    `create function ${name}() returns trigger language plpgsql as $body$ begin ${body} return null; end $body$`,
    `create trigger ${name} after ${event} on ${table} ${tables} execute function ${name}()`,
  ]
}

/** Adds the net change of each bucket, sorted so that concurrent transactions lock the rows in the same order. */
function postgresNet(counts: string, keys: string): string {
  const columns = `app_id, owner_id, bucket, ${keys}`
  const part = (table: string, sign: number) =>
    `select app_id, owner_id, ${bucket('x')} as bucket, ${keys}, ${sign} as d from ${table} x`
  return `insert into ${counts} (${columns}, n)
    select ${columns}, sum(d) from (${part('was', -1)} union all ${part('became', 1)}) net
    group by ${columns} having sum(d) <> 0 order by app_id, bucket, ${keys}
    on conflict (app_id, bucket, ${keys}) do update set n = ${counts}.n + excluded.n;`
}

function postgresAdd(counts: string, keys: string): string {
  return `insert into ${counts} (app_id, owner_id, bucket, ${keys}, n)
    select app_id, owner_id, ${bucket('x')}, ${keys}, count(*) from added x
    group by 1, 2, 3, ${keys} order by 1, 3, ${keys}
    on conflict (app_id, bucket, ${keys}) do update set n = ${counts}.n + excluded.n;`
}

function postgresSubtract(counts: string, keys: readonly string[]): string {
  const same = keys.map((key) => `c.${key} = g.${key}`).join(' and ')
  return `update ${counts} c set n = c.n - g.n from (
      select app_id, ${bucket('x')} as bucket, ${keys.join(', ')}, count(*) as n from removed x
      group by app_id, 2, ${keys.join(', ')}
    ) g where c.app_id = g.app_id and c.bucket = g.bucket and ${same};`
}

const postgresDaily = (metric: string) => `insert into daily_counts (app_id, owner_id, day, metric, n)
    select app_id, owner_id, created_at / 86400000, '${metric}', count(*) from added
    group by 1, 2, 3 order by 1, 3
    on conflict (app_id, metric, day) do update set n = daily_counts.n + excluded.n;`

const postgresTotal = (rows: string, sign: '+' | '-', target: string, column: string, by: string) =>
  `update ${target} t set ${column} = t.${column} ${sign} g.n
    from (select ${by}, count(*) as n from ${rows} where ${by} is not null group by ${by}) g where t.id = g.${by};`

const postgresCounting = [
  ...postgresTrigger('apps', 'insert', added, postgresTotal('added', '+', 'owners', 'app_count', 'owner_id')),
  ...postgresTrigger(
    'apps',
    'delete',
    removed,
    postgresTotal('removed', '-', 'owners', 'app_count', 'owner_id'),
  ),
  ...postgresTrigger(
    'licenses',
    'insert',
    added,
    postgresTotal('added', '+', 'apps', 'license_count', 'app_id') +
      postgresTotal('added', '+', 'resellers', 'license_count', 'reseller_id') +
      postgresAdd('license_counts', 'used, banned') +
      postgresDaily('licenses'),
  ),
  ...postgresTrigger('licenses', 'update', changed, postgresNet('license_counts', 'used, banned')),
  ...postgresTrigger(
    'licenses',
    'delete',
    removed,
    postgresTotal('removed', '-', 'apps', 'license_count', 'app_id') +
      postgresTotal('removed', '-', 'resellers', 'license_count', 'reseller_id') +
      postgresSubtract('license_counts', ['used', 'banned']),
  ),
  ...postgresTrigger(
    'clients',
    'insert',
    added,
    postgresAdd('client_counts', 'banned') + postgresDaily('clients'),
  ),
  ...postgresTrigger('clients', 'update', changed, postgresNet('client_counts', 'banned')),
  ...postgresTrigger('clients', 'delete', removed, postgresSubtract('client_counts', ['banned'])),
]

const postgresSearch = [
  'create extension if not exists pg_trgm',
  'create index licenses_key_search on licenses using gin (key_normalized gin_trgm_ops)',
  'create index licenses_note_search on licenses using gin (lower(note) gin_trgm_ops) where note is not null',
  'create index clients_name_search on clients using gin (username_normalized gin_trgm_ops)',
]

/** Accounts, apps, licenses, end users, sessions, counts kept by triggers, and the full-text indexes. */
export const foundation: Migration = {
  name: '0001-foundation',
  statements: (dialect) =>
    dialect === 'postgres'
      ? [...tables(dialect), ...postgresCounting, ...postgresSearch]
      : [...tables(dialect), ...sqliteSearch, ...sqliteCounting],
}
