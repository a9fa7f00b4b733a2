import type { Migration } from '../migrate.ts'

type Dialect = 'sqlite' | 'postgres'

const counted = { licenses: 'license_places', clients: 'client_places' } as const
type Table = keyof typeof counted
const tables = Object.keys(counted) as Table[]

/** A place is a range of 16,384 `seq`; `db/lists/places.ts` uses the same width. */
const placeOf = (row: string) => `${row}.seq / 16384`

function dropped(table: Table, dialect: Dialect): string[] {
  const triggers =
    dialect === 'postgres'
      ? ['insert', 'update', 'delete'].flatMap((event) => [
          `drop trigger ${table}_${event}_places on ${table}`,
          `drop function ${table}_${event}_places()`,
        ])
      : ['added', 'changed', 'removed'].map((event) => `drop trigger ${table}_${event}_place`)
  return [...triggers, `drop table ${counted[table]}`]
}

function created(table: Table, dialect: Dialect): string[] {
  const text = dialect === 'postgres' ? 'text collate "C"' : 'text'
  return [
    `create table ${counted[table]} (
      app_id ${text} not null references apps (id) on delete cascade,
      place integer not null,
      n integer not null,
      primary key (app_id, place)
    )${dialect === 'postgres' ? '' : ' without rowid'}`,
    `insert into ${counted[table]} (app_id, place, n)
      select app_id, ${placeOf('x')}, count(*) from ${table} x group by 1, 2`,
  ]
}

function sqliteTriggers(table: Table): string[] {
  const places = counted[table]
  return [
    `create trigger ${table}_added_place after insert on ${table} begin
      insert into ${places} (app_id, place, n) values (new.app_id, ${placeOf('new')}, 1)
      on conflict (app_id, place) do update set n = n + 1; end`,
    `create trigger ${table}_removed_place after delete on ${table} begin
      update ${places} set n = n - 1 where app_id = old.app_id and place = ${placeOf('old')}; end`,
  ]
}

function postgresTriggers(table: Table): string[] {
  const places = counted[table]
  const trigger = (event: string, rows: string, body: string) => [
    `create function ${table}_${event}_places() returns trigger language plpgsql
      as $body$ begin ${body} return null; end $body$`,
    `create trigger ${table}_${event}_places after ${event} on ${table} referencing ${rows}
      for each statement execute function ${table}_${event}_places()`,
  ]
  return [
    // Sorted, so that two transactions lock the rows in one order.
    ...trigger(
      'insert',
      'new table as added',
      `insert into ${places} (app_id, place, n)
        select app_id, ${placeOf('x')}, count(*) from added x group by 1, 2 order by 1, 2
        on conflict (app_id, place) do update set n = ${places}.n + excluded.n;`,
    ),
    ...trigger(
      'delete',
      'old table as removed',
      `update ${places} p set n = p.n - g.n
        from (select app_id, ${placeOf('x')} as place, count(*) as n from removed x group by 1, 2) g
        where p.app_id = g.app_id and p.place = g.place;`,
    ),
  ]
}

/** Counts rows by their number alone: a change of ends, uses and bans moves nothing from place to place. */
export const placesOfLists: Migration = {
  name: '0101-places-of-lists',
  statements: (dialect) =>
    tables.flatMap((table) => [
      ...dropped(table, dialect),
      ...created(table, dialect),
      ...(dialect === 'postgres' ? postgresTriggers(table) : sqliteTriggers(table)),
    ]),
}
