import type { Migration } from '../migrate.ts'

/** Vendor accounts that the operator has disabled, and limits of its own for them. */
export const vendorStates: Migration = {
  name: '0075-vendor-states',
  statements: () => [
    'alter table owners add column disabled_at bigint',
    'alter table owners add column paused_before integer',
    'alter table owners add column max_apps bigint',
    'alter table owners add column max_licenses_per_app bigint',
    'alter table webhooks add column off_with_vendor integer not null default 0',
  ],
}
