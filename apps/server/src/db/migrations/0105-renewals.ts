import type { Migration } from '../migrate.ts'

/** Orders renew licenses that there are, by grants that end with what was paid and that cover updates. */
export const renewals: Migration = {
  name: '0105-renewals',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table grants add column updates_ms bigint',
      'alter table grants add column updates_until bigint',
      // An order gives its time once.
      `create unique index grants_order on grants (source_id)
        where source_kind = 'order' and kind in ('time', 'period')`,
      'alter table licenses add column updates_until bigint',
      `alter table shop_order_units add column renewed_id ${t} references licenses (id) on delete set null`,
      'alter table shop_order_units add column gift text',
      'alter table shop_order_units add column unheard integer not null default 0',
      'create index shop_order_units_renewed on shop_order_units (renewed_id) where renewed_id is not null',
    ]
  },
}
