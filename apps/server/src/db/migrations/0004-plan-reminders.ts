import type { Migration } from '../migrate.ts'

/** Which reminders of the end of premium were sent or are claimed. */
export const planReminders: Migration = {
  name: '0004-plan-reminders',
  statements: (dialect) => [
    `create table plan_reminders (
      owner_id ${dialect === 'postgres' ? 'text collate "C"' : 'text'} not null
        references owners (id) on delete cascade,
      premium_until bigint not null,
      days integer not null,
      claimed_at bigint not null,
      sent_at bigint,
      primary key (owner_id, premium_until, days)
    )`,
    'create index plan_reminders_end on plan_reminders (premium_until)',
    'create index owners_premium on owners (premium_until, id) where premium_until is not null',
  ],
}
