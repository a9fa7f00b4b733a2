import type { Migration } from '../migrate.ts'

/** Licenses say whether they come from a test order, and apps whether such licenses work, as they did before. */
export const testLicenses: Migration = {
  name: '0094-test-licenses',
  statements: () => [
    'alter table licenses add column test integer not null default 0',
    'alter table apps add column test_licenses integer not null default 1',
    `update licenses set test = 1 where id in (
      select u.license_id from shop_orders o join shop_order_units u on u.order_id = o.id where o.test = 1)`,
  ],
}
