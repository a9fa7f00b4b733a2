import type { Migration } from '../migrate.ts'

/** Finds events by what happened, by the username or key that a program sent, and by address. */
export const activitySearch: Migration = {
  name: '0053-activity-search',
  statements: (dialect) => {
    const [subject, address] =
      dialect === 'postgres'
        ? ['(lower(subject) collate "C")', '(address collate "C")']
        : ['lower(subject)', 'address']
    return [
      'create index activity_owner_kind on activity (owner_id, kind, created_at, seq) where code is null',
      'create index activity_app_kind on activity (app_id, kind, created_at, seq) where code is null',
      // Starts name a version, which nobody looks for, and are most events.
      `create index activity_subject on activity (owner_id, ${subject}, created_at, seq)
        where subject is not null and share <> 'init'`,
      `create index activity_address on activity (owner_id, ${address}, created_at, seq) where address is not null`,
    ]
  },
}
