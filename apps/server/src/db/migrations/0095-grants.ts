import { day, lastInstant } from '../../core/clock.ts'
import type { Migration } from '../migrate.ts'
import { held, never } from '../stored-end.ts'

/** What moved the ends of access is kept row by row, and a pause holds the time that is left. */
export const grants: Migration = {
  name: '0095-grants',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const sequence = isPostgres
      ? 'bigint generated always as identity primary key'
      : 'integer primary key autoincrement'
    return [
      `create table grants (
        seq ${sequence},
        id ${t} not null unique,
        owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade,
        license_id ${t} references licenses (id) on delete cascade,
        client_id ${t} references clients (id) on delete cascade,
        kind text not null,
        at bigint not null,
        until bigint,
        moved_ms bigint,
        gap_ms bigint not null default 0,
        kept_ms bigint,
        rights_until bigint,
        terms text,
        source_kind text not null,
        source_id ${t},
        withdrawn_at bigint
      )`,
      ...earlierGrants,
      'create index grants_license on grants (license_id) where license_id is not null',
      'create index grants_client on grants (client_id) where client_id is not null',
      `create index grants_key on grants (source_id) where source_kind = 'key' and kind = 'time'`,
      // A key gives its time once.
      `create unique index grants_standing_key on grants (source_id)
        where source_kind = 'key' and kind = 'time' and withdrawn_at is null`,
      'create index grants_owner on grants (owner_id)',
      'create index grants_app on grants (app_id)',
      'alter table clients add column left_ms bigint',
      `update clients set left_ms = expires_at - paused_at where ${isHeld}`,
      `update licenses set expires_at = ${held} where id in (select license_id from clients where left_ms is not null)`,
      `update clients set expires_at = ${held} where left_ms is not null`,
      'alter table clients add column added_rights text',
      // Keys that were added before hold as long as the end user has access, as was documented.
      `update clients set added_rights = '[{"devices":' || added_devices || ',"seats":' || coalesce('' || added_seats, 'null')
        || ',"seat_timeout_seconds":' || coalesce(added_seat_timeout, 0) || ',"features":"'
        || replace(added_features, '"', '\\"') || '","until":null,"graceDays":0}]'
        where added_features is not null`,
      ...['features', 'devices', 'seats', 'seat_timeout'].map(
        (name) => `alter table clients drop column added_${name}`,
      ),
      'alter table licenses drop column added_ms',
      'alter table licenses drop column taken_ms',
    ]
  },
}

const isHeld = `paused_at is not null and expires_at > paused_at and expires_at <= ${lastInstant}`

/** End users whose ends say less than what happened: those that are paused, and those with added keys. */
const changed = `from clients c left join licenses l on l.id = c.license_id where c.paused_at is not null
  or c.id in (select k.client_id from licenses k where k.added_ms is not null and k.client_id is not null)`

const added = `licenses k where k.client_id = c.id and k.added_ms is not null`
/** The end without the keys that removed it, grace days included. */
const finite = `coalesce((select -k.added_ms from ${added} and k.added_ms < 0 and k.taken_ms is null limit 1), c.expires_at)`
const givenMs = `coalesce((select sum(k.added_ms - coalesce(k.taken_ms, 0)) from ${added} and k.added_ms > 0), 0)`

const holder = 'c.owner_id, c.app_id, c.license_id, case when c.license_id is null then c.id end'

const earlierGrants = [
  `insert into grants (id, owner_id, app_id, license_id, client_id, kind, at, until, terms, source_kind, source_id)
    select 'gra_t' || c.id, ${holder}, 'term', c.created_at,
      case when ${finite} = ${never} then null else ${finite} - ${givenMs} - c.grace_days * cast(${day} as bigint) end,
      case when l.id is null then null else '{"term":"' || l.term || '","duration_value":'
        || coalesce('' || l.duration_value, 'null') || ',"duration_unit":'
        || coalesce('"' || l.duration_unit || '"', 'null') || '}' end,
      'key', c.license_id ${changed}`,
  `insert into grants (id, owner_id, app_id, license_id, client_id, kind, at, moved_ms, kept_ms, source_kind, source_id, withdrawn_at)
    select 'gra_k' || k.id, ${holder}, 'time', coalesce(k.used_at, c.created_at),
      case when k.added_ms >= 0 then k.added_ms end,
      case when k.taken_ms is null then null when k.added_ms < 0 then 0 else k.added_ms - k.taken_ms end,
      'key', k.id, case when k.taken_ms is null then null else coalesce(k.used_at, c.created_at) end
    from licenses k join clients c on c.id = k.client_id where k.added_ms is not null
    order by k.used_at, k.seq`,
  `insert into grants (id, owner_id, app_id, license_id, client_id, kind, at, source_kind)
    select 'gra_p' || c.id, ${holder}, 'pause', c.paused_at, 'person'
    from clients c where c.paused_at is not null`,
]
