import type { Migration } from '../migrate.ts'

/** Webhooks, and their deliveries: what waits and the log. */
export const webhooks: Migration = {
  name: '0047-webhooks',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    const sequence =
      dialect === 'postgres'
        ? 'bigint generated always as identity primary key'
        : 'integer primary key autoincrement'
    return [
      `create table webhooks (
        id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        url_sealed text not null,
        origin text not null,
        secret_sealed text,
        previous_sealed text,
        previous_until bigint not null default 0,
        events text not null,
        apps text,
        format ${t} not null,
        active integer not null default 1,
        failing_since bigint,
        maker_kind ${t} not null,
        maker_id ${t} not null,
        created_at bigint not null,
        deleted_at bigint
      )`,
      'create index webhooks_owner on webhooks (owner_id, deleted_at, created_at, id)',
      'create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null',
      `create table webhook_deliveries (
        seq ${sequence},
        webhook_id ${t} not null references webhooks (id) on delete cascade,
        owner_id ${t} not null,
        event_id ${t} not null,
        event ${t} not null,
        subject ${t} not null,
        target_id ${t},
        app_id ${t},
        actor_kind ${t} not null,
        actor_id ${t} not null,
        detail text,
        happened_at bigint not null,
        body text,
        body_maker ${t},
        state ${t} not null default 'waiting',
        due_at bigint,
        attempts integer not null default 0,
        first_at bigint,
        status integer,
        error text,
        duration_ms integer,
        request text,
        response text,
        expires_at bigint not null
      )`,
      'create unique index webhook_deliveries_event on webhook_deliveries (webhook_id, event_id)',
      'create index webhook_deliveries_due on webhook_deliveries (due_at) where due_at is not null',
      `create index webhook_deliveries_lane on webhook_deliveries (webhook_id, due_at, seq)
        where due_at is not null`,
      `create index webhook_deliveries_order on webhook_deliveries (webhook_id, subject, seq)
        where due_at is not null`,
      'create index webhook_deliveries_log on webhook_deliveries (webhook_id, seq)',
      'create index webhook_deliveries_state on webhook_deliveries (webhook_id, state, seq)',
      'create index webhook_deliveries_expiry on webhook_deliveries (expires_at)',
    ]
  },
}
