import type { Migration } from '../migrate.ts'

/** Second factors of people and resellers: an authenticator app, passkeys, recovery codes, and unfinished sign-ins. */
export const secondFactors: Migration = {
  name: '0045-second-factors',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table second_factors (
        id ${t} primary key,
        account_id ${t} unique references accounts (id) on delete cascade,
        reseller_id ${t} unique references resellers (id) on delete cascade,
        active integer not null default 0,
        totp_sealed text,
        totp_step bigint not null default 0,
        pending_sealed text,
        pending_until bigint not null default 0,
        created_at bigint not null,
        check ((account_id is null) <> (reseller_id is null))
      )`,
      `create table passkeys (
        id ${t} primary key,
        factor_id ${t} not null references second_factors (id) on delete cascade,
        credential_id ${t} not null unique,
        public_key text not null,
        counter bigint not null,
        transports text not null,
        name text not null,
        created_at bigint not null,
        last_used_at bigint
      )`,
      'create index passkeys_factor on passkeys (factor_id)',
      `create table recovery_codes (
        code_hash ${t} primary key,
        factor_id ${t} not null references second_factors (id) on delete cascade
      )`,
      'create index recovery_codes_factor on recovery_codes (factor_id)',
      `create table factor_challenges (
        token_hash ${t} primary key,
        factor_id ${t} not null references second_factors (id) on delete cascade,
        purpose ${t} not null,
        state text not null,
        created_at bigint not null,
        expires_at bigint not null
      )`,
      'create index factor_challenges_factor on factor_challenges (factor_id, created_at)',
      'create index factor_challenges_expiry on factor_challenges (expires_at)',
      'alter table owners add column require_second_factor integer not null default 0',
    ]
  },
}
