import type { Migration } from '../migrate.ts'

const codes: readonly (readonly [code: string, reasons: string])[] = [
  ['not_arrived', 'The order itself has not arrived yet'],
  ['unreadable', 'The order could not be read from the shop.%'],
  ['event_failed', 'An event of this order could not be used.%'],
  ['too_many_events', 'The shop has sent more than%'],
  ['no_product', 'The shop names no product%'],
  ['type_missing', 'No license type is chosen%'],
  ['type_deleted', 'The license type of the product%'],
  ['product_added', 'The shop added the product%'],
  ['product_unclear', 'The order has several products%'],
  ['plan_full', 'Your plan allows%'],
  ['too_many_licenses', 'An order can create at most%'],
  ['partly_refunded', 'A part was refunded%'],
]

/** Why an order waits, for programs; what its vendor has decided; and for how many units it has its licenses. */
export const orderChoices: Migration = {
  name: '0087-order-choices',
  statements: () => [
    'alter table shop_orders add column reason_code text',
    `alter table shop_orders add column chosen text not null default '{}'`,
    `alter table shop_orders add column issued text not null default '{}'`,
    ...codes.map(
      ([code, reasons]) =>
        `update shop_orders set reason_code = '${code}' where state = 'waiting' and reason like '${reasons}'`,
    ),
    `update shop_orders set chosen = '{"refunds":{"":' || refund_seen || '}}' where refund_seen > 0`,
    'alter table shop_orders drop column refund_seen',
  ],
}
