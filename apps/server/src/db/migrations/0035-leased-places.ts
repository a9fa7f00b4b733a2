import type { Migration } from '../migrate.ts'

/** Leases keep the seat and the device that they were issued for, whatever a program returns meanwhile. */
export const leasedPlaces: Migration = {
  name: '0035-leased-places',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table leased_seats (
        license_id ${t} not null references licenses (id) on delete cascade,
        holder ${t} not null,
        until bigint not null,
        primary key (license_id, holder)
      )`,
      'create index leased_seats_end on leased_seats (until)',
      'alter table devices add column lease_until bigint',
      `alter table devices add column lease_hash ${t}`,
      'alter table devices add column freed_until bigint',
      'create index devices_freed on devices (freed_until) where freed_until is not null',
      // Which device has the lease was not stored before: each may.
      `update devices set lease_hash = hwid_hash, lease_until = (
          select c.lease_until from clients c where c.id = devices.client_id)
        where exists (select 1 from clients c where c.id = devices.client_id and c.lease_until is not null)`,
    ]
  },
}
