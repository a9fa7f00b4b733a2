import type { Migration } from '../migrate.ts'

/** Shops, the events that they send, and the orders that follow with their licenses. */
export const shops: Migration = {
  name: '0057-shops',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    const sequence =
      dialect === 'postgres'
        ? 'bigint generated always as identity primary key'
        : 'integer primary key autoincrement'
    const belongs = `owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade`
    return [
      `create table shops (
        seq ${sequence},
        id ${t} not null unique,
        ${belongs},
        kind ${t} not null,
        name text not null,
        secret_sealed text,
        api_key_sealed text,
        products text not null,
        active integer not null default 1,
        created_at bigint not null,
        deleted_at bigint
      )`,
      'create index shops_app on shops (app_id, deleted_at, seq)',
      'create index shops_owner on shops (owner_id)',
      `create table shop_orders (
        seq ${sequence},
        id ${t} not null unique,
        ${belongs},
        shop_id ${t} not null references shops (id) on delete cascade,
        number ${t} not null,
        email text,
        email_normalized ${t},
        name text,
        customer_id ${t} references customers (id) on delete set null,
        amount bigint,
        currency ${t},
        test integer not null default 0,
        lines text not null default '[]',
        state ${t} not null default 'waiting',
        reason text,
        refund_seen bigint not null default 0,
        mail ${t} not null default 'none',
        created_at bigint not null
      )`,
      'create unique index shop_orders_number on shop_orders (shop_id, number)',
      'create index shop_orders_owner on shop_orders (owner_id, seq)',
      'create index shop_orders_owner_state on shop_orders (owner_id, state, seq)',
      'create index shop_orders_owner_email on shop_orders (owner_id, email_normalized, seq)',
      'create index shop_orders_owner_number on shop_orders (owner_id, number, seq)',
      'create index shop_orders_app on shop_orders (app_id, seq)',
      'create index shop_orders_app_state on shop_orders (app_id, state, seq)',
      'create index shop_orders_shop on shop_orders (shop_id, seq)',
      'create index shop_orders_customer on shop_orders (customer_id, seq) where customer_id is not null',
      `create table shop_order_units (
        order_id ${t} not null references shop_orders (id) on delete cascade,
        app_id ${t} not null,
        product ${t} not null,
        unit integer not null,
        license_id ${t} references licenses (id) on delete set null,
        told_end bigint,
        told_product ${t},
        told_ban ${t},
        primary key (order_id, product, unit)
      )`,
      'create unique index shop_order_units_license on shop_order_units (license_id) where license_id is not null',
      'create index shop_order_units_app on shop_order_units (app_id)',
      `create table shop_events (
        seq ${sequence},
        shop_id ${t} not null references shops (id) on delete cascade,
        owner_id ${t} not null,
        app_id ${t} not null,
        event_id ${t} not null,
        lane ${t} not null,
        body text,
        fact text,
        order_id ${t} references shop_orders (id) on delete cascade,
        sent_at bigint not null,
        received_at bigint not null,
        state ${t} not null default 'waiting',
        attempts integer not null default 0,
        due_at bigint,
        body_until bigint
      )`,
      'create unique index shop_events_event on shop_events (shop_id, event_id)',
      'create index shop_events_due on shop_events (due_at) where due_at is not null',
      'create index shop_events_lane on shop_events (lane, due_at) where due_at is not null',
      'create index shop_events_order on shop_events (order_id, seq) where order_id is not null',
      "create index shop_events_waiting on shop_events (shop_id, seq) where state = 'waiting'",
      'create index shop_events_received on shop_events (shop_id, received_at)',
      'create index shop_events_body on shop_events (body_until) where body_until is not null',
      'create index shop_events_app on shop_events (app_id)',
      'create index shop_events_owner on shop_events (owner_id)',
    ]
  },
}
