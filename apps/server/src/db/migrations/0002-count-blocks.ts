import type { Migration } from '../migrate.ts'

type Dialect = 'sqlite' | 'postgres'

/** A block of 256 hourly buckets, so that counts over years are read from few rows. */
const block = (row: string) => `((${row}.expires_at + 3599999) / 3600000) / 256`

interface Counting {
  table: 'licenses' | 'clients'
  blocks: 'license_blocks' | 'client_blocks'
  counts: 'license_counts' | 'client_counts'
  keys: readonly string[]
}

const counted: readonly Counting[] = [
  { table: 'licenses', blocks: 'license_blocks', counts: 'license_counts', keys: ['used', 'banned'] },
  { table: 'clients', blocks: 'client_blocks', counts: 'client_counts', keys: ['banned'] },
]

function tables({ blocks, counts, keys }: Counting, dialect: Dialect): string[] {
  const text = dialect === 'postgres' ? 'text collate "C"' : 'text'
  return [
    `create table ${blocks} (
      app_id ${text} not null references apps (id) on delete cascade,
      owner_id ${text} not null references owners (id) on delete cascade,
      block integer not null,
      ${keys.map((key) => `${key} integer not null`).join(', ')},
      n integer not null,
      primary key (app_id, block, ${keys})
    )`,
    `create index ${blocks}_owner on ${blocks} (owner_id, block, ${keys}, n)`,
    `insert into ${blocks} (app_id, owner_id, block, ${keys}, n)
      select app_id, owner_id, bucket / 256, ${keys}, sum(n) from ${counts} group by 1, 2, 3, ${keys}`,
  ]
}

function sqliteTriggers({ table, blocks, keys }: Counting): string[] {
  const of = (row: string) => keys.map((key) => `${row}.${key}`)
  const add = `insert into ${blocks} (app_id, owner_id, block, ${keys}, n)
    values (new.app_id, new.owner_id, ${block('new')}, ${of('new')}, 1)
    on conflict (app_id, block, ${keys}) do update set n = n + 1;`
  const same = keys.map((key) => `${key} = old.${key}`).join(' and ')
  const subtract = `update ${blocks} set n = n - 1
    where app_id = old.app_id and block = ${block('old')} and ${same};`
  const columns = [...keys, 'expires_at']
  const differs = columns.map((column) => `old.${column} <> new.${column}`).join(' or ')
  return [
    `create trigger ${table}_added_block after insert on ${table} begin ${add} end`,
    `create trigger ${table}_changed_block after update of ${columns} on ${table}
      when ${differs} begin ${subtract} ${add} end`,
    `create trigger ${table}_removed_block after delete on ${table} begin ${subtract} end`,
  ]
}

function postgresTriggers({ table, blocks, keys }: Counting): string[] {
  const columns = `app_id, owner_id, block, ${keys}`
  const part = (rows: string, sign: number) =>
    `select app_id, owner_id, ${block('x')} as block, ${keys}, ${sign} as d from ${rows} x`
  // Sorted, so that concurrent transactions lock the rows in the same order.
  const addNet = (parts: string) => `insert into ${blocks} (${columns}, n)
    select ${columns}, sum(d) from (${parts}) net
    group by ${columns} having sum(d) <> 0 order by app_id, block, ${keys}
    on conflict (app_id, block, ${keys}) do update set n = ${blocks}.n + excluded.n;`
  const same = ['app_id', 'block', ...keys].map((key) => `b.${key} = g.${key}`).join(' and ')
  const subtract = `update ${blocks} b set n = b.n + g.n
    from (select app_id, block, ${keys}, sum(d) as n from (${part('removed', -1)}) r
      group by app_id, block, ${keys}) g where ${same};`
  const trigger = (event: string, rows: string, body: string) => [
    `create function ${table}_${event}_blocks() returns trigger language plpgsql
      as $body$ begin ${body} return null; end $body$`,
    `create trigger ${table}_${event}_blocks after ${event} on ${table} referencing ${rows}
      for each statement execute function ${table}_${event}_blocks()`,
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

/** Counts by blocks of 256 hours, so that an owner with years of expiries is counted quickly. */
export const countBlocks: Migration = {
  name: '0002-count-blocks',
  statements: (dialect) =>
    counted.flatMap((counting) => [
      ...tables(counting, dialect),
      ...(dialect === 'postgres' ? postgresTriggers(counting) : sqliteTriggers(counting)),
    ]),
}
