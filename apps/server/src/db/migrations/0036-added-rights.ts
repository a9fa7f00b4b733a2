import type { Migration } from '../migrate.ts'

/** What keys that were added by `upgrade` allow, with their end users; `storeAddedRights` computes it from now on. */
export const addedRights: Migration = {
  name: '0036-added-rights',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const added = `l.client_id = clients.id and l.banned = 0
      and (clients.license_id is null or l.id <> clients.license_id)`
    const names = isPostgres
      ? `(select json_agg(name order by name)::text from (select distinct n.name from licenses l,
          json_array_elements_text(l.features::json) as n(name) where ${added}) found)`
      : `(select json_group_array(name) from (select distinct n.value as name from licenses l,
          json_each(l.features) n where ${added} order by 1))`
    const largest = (column: string) => `(select l.${column} from licenses l where ${added}
      order by case when l.seats is null and l.devices = -1 then 100000 else coalesce(l.seats, l.devices) end desc,
        l.used_at, l.id limit 1)`
    return [
      'alter table clients add column added_features text',
      'alter table clients add column added_devices integer',
      'alter table clients add column added_seats integer',
      'alter table clients add column added_seat_timeout integer',
      `update clients set added_features = coalesce(${names}, '[]'), added_devices = ${largest('devices')},
          added_seats = ${largest('seats')}, added_seat_timeout = ${largest('seat_timeout_seconds')}
        where exists (select 1 from licenses l where ${added})`,
    ]
  },
}
