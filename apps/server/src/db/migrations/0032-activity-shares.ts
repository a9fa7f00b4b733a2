import type { Migration } from '../migrate.ts'

/** Each kind of event has its own share of an app's activity log, so that a flood of one kind removes no other. */
export const activityShares: Migration = {
  name: '0032-activity-shares',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    const share = `case when kind = 'init' or call = 'init' then 'init' when kind = 'refused' then 'refusals'
      when kind = 'end_user.signed_in' then 'sign_ins' else 'other' end`
    return [
      `alter table activity add column share ${t} not null default 'other'`,
      // PostgreSQL writes the table and its indexes once, instead of each row into each index.
      dialect === 'postgres'
        ? `alter table activity alter column share type ${t} using (${share})`
        : `update activity set share = ${share} where kind in ('init', 'refused', 'end_user.signed_in')`,
      'create index activity_share on activity (app_id, share, created_at, seq)',
      `create table activity_shares (
        app_id ${t} not null,
        share ${t} not null,
        owner_id ${t} not null,
        n integer not null,
        primary key (app_id, share)
      )`,
      `insert into activity_shares (app_id, share, owner_id, n)
        select app_id, share, min(owner_id), count(*) from activity group by app_id, share`,
      'drop table activity_counts',
    ]
  },
}
