import type { Migration } from '../migrate.ts'

/** Programs of another system that reach an app through the protocols of its libraries. */
export const compatibility: Migration = {
  name: '0068-compatibility',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table compatibility (
        app_id ${t} primary key references apps (id) on delete cascade,
        owner_id ${t} not null,
        enabled integer not null,
        owner_ref ${t} not null,
        name ${t} not null,
        protocols ${t} not null,
        secret_sealed ${t} not null,
        public_key ${t} not null,
        key_sealed ${t} not null,
        last_used_at bigint
      )`,
      'create unique index compatibility_claim on compatibility (owner_ref, name)',
      `create table compatibility_programs (
        app_id ${t} not null,
        program ${t} not null,
        expires_at bigint not null,
        primary key (app_id, program)
      )`,
      'create index compatibility_programs_expiry on compatibility_programs (expires_at)',
    ]
  },
}
