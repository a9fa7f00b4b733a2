import type { Migration } from '../migrate.ts'

type Dialect = 'sqlite' | 'postgres'

/** A place is a range of 16,384 `seq`, a block 32 hours; `db/places.ts` uses the same widths. */
const placeOf = (row: string) => `${row}.seq / 16384`
const blockOf = (row: string) => `${row}.expires_at / 115200000`

interface Counting {
  table: 'licenses' | 'clients'
  places: 'license_places' | 'client_places'
  flags: readonly string[]
}

const counted: readonly Counting[] = [
  { table: 'licenses', places: 'license_places', flags: ['used', 'banned'] },
  { table: 'clients', places: 'client_places', flags: ['banned'] },
]

function tables({ table, places, flags }: Counting, dialect: Dialect): string[] {
  const isPostgres = dialect === 'postgres'
  const text = isPostgres ? 'text collate "C"' : 'text'
  return [
    `create table ${places} (
      app_id ${text} not null references apps (id) on delete cascade,
      owner_id ${text} not null references owners (id) on delete cascade,
      place integer not null,
      block integer not null,
      ${flags.map((flag) => `${flag} integer not null`).join(', ')},
      n integer not null,
      primary key (app_id, place, block, ${flags})
    )${isPostgres ? '' : ' without rowid'}`,
    `create index ${places}_owner on ${places} (owner_id, place, block, ${flags}, n)`,
    `create index ${places}_empty on ${places} (app_id, place, block, ${flags}) where n = 0`,
    `insert into ${places} (app_id, owner_id, place, block, ${flags}, n)
      select app_id, owner_id, ${placeOf('x')}, ${blockOf('x')}, ${flags}, count(*) from ${table} x
      group by 1, 2, 3, 4, ${flags}`,
  ]
}

function sqliteTriggers({ table, places, flags }: Counting): string[] {
  const of = (row: string) => flags.map((flag) => `${row}.${flag}`)
  const add = `insert into ${places} (app_id, owner_id, place, block, ${flags}, n)
    values (new.app_id, new.owner_id, ${placeOf('new')}, ${blockOf('new')}, ${of('new')}, 1)
    on conflict (app_id, place, block, ${flags}) do update set n = n + 1;`
  const same = flags.map((flag) => `${flag} = old.${flag}`).join(' and ')
  const subtract = `update ${places} set n = n - 1
    where app_id = old.app_id and place = ${placeOf('old')} and block = ${blockOf('old')} and ${same};`
  const differs = [
    ...flags.map((flag) => `old.${flag} <> new.${flag}`),
    `${blockOf('old')} <> ${blockOf('new')}`,
  ]
  return [
    `create trigger ${table}_added_place after insert on ${table} begin ${add} end`,
    `create trigger ${table}_changed_place after update of ${flags}, expires_at on ${table}
      when ${differs.join(' or ')} begin ${subtract} ${add} end`,
    `create trigger ${table}_removed_place after delete on ${table} begin ${subtract} end`,
  ]
}

function postgresTriggers({ table, places, flags }: Counting): string[] {
  const columns = `app_id, owner_id, place, block, ${flags}`
  const part = (rows: string, sign: number) =>
    `select app_id, owner_id, ${placeOf('x')} as place, ${blockOf('x')} as block, ${flags}, ${sign} as d from ${rows} x`
  // Sorted, so that two transactions lock the rows in one order.
  const addNet = (parts: string) => `insert into ${places} (${columns}, n)
    select ${columns}, sum(d) from (${parts}) net
    group by ${columns} having sum(d) <> 0 order by app_id, place, block, ${flags}
    on conflict (app_id, place, block, ${flags}) do update set n = ${places}.n + excluded.n;`
  const same = ['app_id', 'place', 'block', ...flags].map((key) => `p.${key} = g.${key}`).join(' and ')
  const subtract = `update ${places} p set n = p.n + g.n
    from (select app_id, place, block, ${flags}, sum(d) as n from (${part('removed', -1)}) r
      group by app_id, place, block, ${flags}) g where ${same};`
  const trigger = (event: string, rows: string, body: string) => [
    `create function ${table}_${event}_places() returns trigger language plpgsql
      as $body$ begin ${body} return null; end $body$`,
    `create trigger ${table}_${event}_places after ${event} on ${table} referencing ${rows}
      for each statement execute function ${table}_${event}_places()`,
  ]
  return [
    ...trigger('insert', 'new table as added', addNet(part('added', 1))),
    ...trigger(
      'update',
      'old table as was new table as became',
      addNet(`${part('was', -1)} union all ${part('became', 1)}`),
    ),
    ...trigger('delete', 'old table as removed', subtract),
  ]
}

/** Counts by parts of `seq`, so that a page in the middle of a long list is found without a walk to it. */
export const listPlaces: Migration = {
  name: '0012-list-places',
  statements: (dialect) =>
    counted.flatMap((counting) => [
      ...tables(counting, dialect),
      ...(dialect === 'postgres' ? postgresTriggers(counting) : sqliteTriggers(counting)),
    ]),
}
