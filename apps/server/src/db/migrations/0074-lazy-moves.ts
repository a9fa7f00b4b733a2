import type { Migration } from '../migrate.ts'

/** The old provider that end users of an app move from, and what names and keys the app has had. */
export const lazyMoves: Migration = {
  name: '0074-lazy-moves',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table lazy_moves (
        app_id ${t} primary key references apps (id) on delete cascade,
        owner_id ${t} not null,
        url ${t} not null,
        protocol ${t} not null,
        old_name ${t} not null,
        old_owner_id ${t} not null,
        secret_sealed ${t},
        public_key ${t},
        until bigint,
        moved integer not null default 0,
        failed integer not null default 0,
        last_failure ${t},
        last_failure_at bigint
      )`,
      // No foreign key: it would lock the app with each deletion.
      `create table former_names (
        app_id ${t} not null,
        digest ${t} not null,
        primary key (app_id, digest)
      )${dialect === 'postgres' ? '' : ' without rowid'}`,
    ]
  },
}
