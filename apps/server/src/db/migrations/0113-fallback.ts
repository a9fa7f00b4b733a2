import type { Migration } from '../migrate.ts'

/** Licenses stay when a subscription ends that was paid for long enough. */
export const fallback: Migration = {
  name: '0113-fallback',
  statements: () => [
    'alter table shop_orders add column ends_at bigint',
    `update shop_orders set ends_at =
        (select max(u.told_end) from shop_order_units u where u.order_id = shop_orders.id and u.told_ban is null)
      where renews = 1`,
    'create index shop_orders_ends on shop_orders (ends_at) where ends_at is not null',
    'alter table shop_order_units add column kept_after integer',
  ],
}
