import type { Migration } from '../migrate.ts'

/**
 * People apart from the vendor accounts that they own or are members of. The owner of each vendor gets an account with the
 * vendor's id. In `owners`, the column of the address becomes that of the account: SQLite cannot drop a unique column, and
 * a rebuilt table would take every row that refers to it along.
 */
export const accounts: Migration = {
  name: '0040-accounts',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    return [
      `create table accounts (
        id ${t} primary key,
        name text not null,
        email text not null,
        email_normalized ${t} not null unique,
        password_hash text not null,
        created_at bigint not null,
        email_confirmed_at bigint,
        last_owner_id ${t} references owners (id) on delete set null
      )`,
      'create index accounts_last_owner on accounts (last_owner_id)',
      `insert into accounts (id, name, email, email_normalized, password_hash, created_at, last_owner_id)
        select id, name, email, email_normalized, password_hash, created_at, id from owners`,
      'alter table owners drop column email',
      'alter table owners drop column password_hash',
      'alter table owners rename column email_normalized to account_id',
      'update owners set account_id = id',
      ...(isPostgres
        ? [
            'alter table owners rename constraint owners_email_normalized_key to owners_account_id_key',
            'alter table owners add foreign key (account_id) references accounts (id)',
          ]
        : []),
      `create table members (
        id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        account_id ${t} references accounts (id) on delete cascade,
        email text,
        email_normalized ${t},
        role text not null,
        apps text,
        token_hash ${t} unique,
        token_expires_at bigint,
        created_at bigint not null,
        last_used_at bigint,
        unique (owner_id, account_id),
        unique (owner_id, email_normalized)
      )`,
      'create index members_account on members (account_id)',
      ...rebuilt(
        'owner_sessions',
        `id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        account_id ${t} not null references accounts (id) on delete cascade,
        token_hash ${t} not null unique,
        created_at bigint not null,
        expires_at bigint not null,
        confirmed_at bigint not null,
        last_used_at bigint not null,
        address text,
        agent text`,
        `select id, owner_id, owner_id, token_hash, created_at, expires_at, created_at, created_at, null, null
          from owner_sessions`,
      ),
      'create index owner_sessions_owner on owner_sessions (owner_id)',
      'create index owner_sessions_account on owner_sessions (account_id)',
      'create index owner_sessions_expiry on owner_sessions (expires_at)',
      ...rebuilt(
        'reseller_sessions',
        `id ${t} primary key,
        reseller_id ${t} not null references resellers (id) on delete cascade,
        token_hash ${t} not null unique,
        created_at bigint not null,
        expires_at bigint not null,
        confirmed_at bigint not null,
        last_used_at bigint not null,
        address text,
        agent text`,
        `select id, reseller_id, token_hash, created_at, expires_at, created_at, created_at, null, null
          from reseller_sessions`,
      ),
      'create index reseller_sessions_reseller on reseller_sessions (reseller_id)',
      'create index reseller_sessions_expiry on reseller_sessions (expires_at)',
      ...rebuilt(
        'password_resets',
        `id ${t} primary key,
        account_id ${t} references accounts (id) on delete cascade,
        reseller_id ${t} references resellers (id) on delete cascade,
        token_hash ${t} not null unique,
        created_at bigint not null,
        expires_at bigint not null`,
        `select id, case when reseller_id is null then owner_id end, reseller_id, token_hash, created_at, expires_at
          from password_resets`,
      ),
      'create index password_resets_account on password_resets (account_id) where account_id is not null',
      'create index password_resets_reseller on password_resets (reseller_id) where reseller_id is not null',
      'create index password_resets_expiry on password_resets (expires_at)',
      // Who started an import is who records its end, after a restart too.
      "alter table imports add column actor_kind text not null default 'owner'",
      'alter table imports add column actor_id text',
      'update imports set actor_id = owner_id',
    ]
  },
}

/** No table refers to these. */
const rebuilt = (table: string, columns: string, rows: string): string[] => [
  `create table ${table}_next (${columns})`,
  `insert into ${table}_next ${rows}`,
  `drop table ${table}`,
  `alter table ${table}_next rename to ${table}`,
]
