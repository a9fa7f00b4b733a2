import type { Migration } from '../migrate.ts'

/** The seats of floating licenses that programs hold, and the devices on which trials began. */
export const seatsAndTrials: Migration = {
  name: '0016-seats-and-trials',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table seats (
        session_id ${t} primary key references client_sessions (id) on delete cascade,
        license_id ${t} not null references licenses (id) on delete cascade,
        holder ${t} not null,
        until bigint not null
      )`,
      'create index seats_license on seats (license_id, until, holder)',
      'create index seats_end on seats (until)',
      `create table trial_marks (
        app_id ${t} not null references apps (id) on delete cascade,
        mark ${t} not null,
        client_id ${t} not null,
        created_at bigint not null,
        primary key (app_id, mark)
      )${dialect === 'postgres' ? '' : ' without rowid'}`,
    ]
  },
}
