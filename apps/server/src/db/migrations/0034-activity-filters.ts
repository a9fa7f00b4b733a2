import type { Migration } from '../migrate.ts'

/** Without these, a filter by reason reads every event of an owner, app or end user that has none. */
export const activityFilters: Migration = {
  name: '0034-activity-filters',
  statements: () => [
    'create index activity_owner_refused on activity (owner_id, created_at, seq) where code is not null',
    'create index activity_app_refused on activity (app_id, created_at, seq) where code is not null',
    'create index activity_app_code on activity (app_id, code, created_at, seq) where code is not null',
    `create index activity_client_refused on activity (client_id, created_at, seq)
      where client_id is not null and code is not null`,
  ],
}
