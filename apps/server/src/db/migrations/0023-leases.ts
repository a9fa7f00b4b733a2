import type { Migration } from '../migrate.ts'

/** The length of leases per app, and the leases of end users: how many, and until when the last one works. */
export const leases: Migration = {
  name: '0023-leases',
  statements: () => [
    'alter table apps add column lease_hours integer not null default 72',
    'alter table apps add column grace_hours integer not null default 168',
    'alter table clients add column lease_seq integer not null default 0',
    'alter table clients add column lease_until bigint',
  ],
}
