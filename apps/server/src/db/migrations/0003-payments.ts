import type { Migration } from '../migrate.ts'

/** The coupons of a new server in percent: public, unlimited and without an end. */
const coupons = { SAVE10: 10, SAVE20: 20, SAVE25: 25, WELCOME: 15, LAUNCH: 30 }

/** Coupons, orders and payments. */
export const payments: Migration = {
  name: '0003-payments',
  statements: (dialect) => {
    const text = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table owners add column premium_cancelled_at bigint',
      `create table coupons (
        code ${text} primary key,
        percent integer not null,
        valid_from bigint,
        valid_until bigint,
        max_uses integer,
        max_uses_per_owner integer,
        active integer not null default 1,
        listed integer not null default 0
      )`,
      ...Object.entries(coupons).map(
        ([code, percent]) => `insert into coupons (code, percent, listed) values ('${code}', ${percent}, 1)`,
      ),
      // coupon_code is empty instead of null, so that orders without a coupon compare equal.
      `create table payment_orders (
        id ${text} primary key,
        owner_id ${text} not null references owners (id) on delete cascade,
        provider ${text} not null,
        provider_order_id ${text} unique,
        receipt ${text} not null unique,
        status ${text} not null,
        plan_duration ${text} not null,
        list_amount integer not null,
        amount integer not null,
        currency ${text} not null,
        coupon_code ${text} not null,
        discount integer not null,
        created_at bigint not null,
        expires_at bigint not null,
        next_check_at bigint,
        checks integer not null default 0,
        version integer not null default 0
      )`,
      'create index payment_orders_owner on payment_orders (owner_id, created_at)',
      `create unique index payment_orders_open
        on payment_orders (owner_id, provider, plan_duration, amount, currency, coupon_code) where status = 'open'`,
      `create index payment_orders_coupon on payment_orders (coupon_code, status) where coupon_code <> ''`,
      'create index payment_orders_check on payment_orders (next_check_at) where next_check_at is not null',
      `create table payments (
        id ${text} primary key,
        order_id ${text} not null references payment_orders (id) on delete cascade,
        owner_id ${text} not null references owners (id) on delete cascade,
        provider_payment_id ${text} not null,
        status ${text} not null,
        amount integer not null,
        currency ${text} not null,
        amount_refunded integer not null,
        method text,
        failure text,
        refund_reason ${text},
        refund_due integer not null default 0,
        dispute ${text},
        dispute_id ${text},
        activated_at bigint,
        period_start bigint,
        period_end bigint,
        taken_back_ms bigint,
        created_at bigint not null,
        unique (order_id, provider_payment_id)
      )`,
      'create index payments_owner on payments (owner_id, created_at)',
    ]
  },
}
