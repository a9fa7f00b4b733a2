import type { Migration } from '../migrate.ts'

/** Finds orders by what they were counted as from an index alone: a list of sales read a row for each of a million. */
export const saleLists: Migration = {
  name: '0117-sale-lists',
  statements: () => [
    'drop index sale_entries_app',
    'create index sale_entries_app on sale_entries (app_id, kind, at, currency, product, shop_id, order_id)',
  ],
}
