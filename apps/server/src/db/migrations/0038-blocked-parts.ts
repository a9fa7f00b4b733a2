import type { Migration } from '../migrate.ts'

/** What recognizes a blocked device after its hardware id has changed. */
export const blockedParts: Migration = {
  name: '0038-blocked-parts',
  statements: () => [
    "alter table blocklist add column marks text not null default '[]'",
    // The devices with a hardware id, for the entry that blocks it.
    'drop index devices_app',
    'create index devices_app on devices (app_id, hwid_hash)',
  ],
}
