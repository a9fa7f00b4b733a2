import type { Migration } from '../migrate.ts'

/** Which version runs on a device, which ran there before, and who was told of a fix. */
export const versionsInUse: Migration = {
  name: '0109-versions-in-use',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table devices add column version text',
      // Sorts as the numbers of the version do; null if it is not three numbers.
      `alter table devices add column version_order ${t}`,
      // The release whose advisory its program got last.
      `alter table devices add column told_release ${t}`,
      'create index devices_version on devices (app_id, version_order) where version_order is not null',
      `create table former_versions (
        device_id ${t} not null references devices (id) on delete cascade,
        version_order ${t} not null,
        app_id ${t} not null,
        until bigint not null,
        primary key (device_id, version_order)
      )`,
      'create index former_versions_app on former_versions (app_id, version_order)',
      `create table told_devices (
        release_id ${t} not null references releases (id) on delete cascade,
        device_id ${t} not null references devices (id) on delete cascade,
        version text not null,
        at bigint not null,
        primary key (release_id, device_id)
      )`,
      'create index told_devices_device on told_devices (device_id)',
      `create table told_customers (
        release_id ${t} not null references releases (id) on delete cascade,
        customer_id ${t} not null references customers (id) on delete cascade,
        devices integer not null,
        at bigint not null,
        primary key (release_id, customer_id)
      )`,
      'create index told_customers_customer on told_customers (customer_id)',
      // Numbers stay when devices and customers are gone.
      `create table release_days (
        release_id ${t} not null references releases (id) on delete cascade,
        day integer not null,
        exposed integer,
        told_devices integer not null default 0,
        told_customers integer not null default 0,
        primary key (release_id, day)
      )`,
      // Limits how many releases customers are mailed about; a release that is removed counts on.
      `create table release_notices (
        owner_id ${t} not null references owners (id) on delete cascade,
        release_id ${t} not null,
        expires_at bigint not null,
        primary key (owner_id, release_id)
      )`,
      'create index release_notices_expires on release_notices (expires_at)',
    ]
  },
}
