import type { Migration } from '../migrate.ts'

/** Mails and requests for reset links, written in the transaction that causes them and handled afterwards. */
export const mails: Migration = {
  name: '0046-mails',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table mails (
        id ${t} primary key,
        owner_id ${t} references owners (id) on delete cascade,
        account_id ${t} references accounts (id) on delete cascade,
        reseller_id ${t} references resellers (id) on delete cascade,
        lane ${t} not null,
        state ${t} not null,
        sealed text,
        due_at bigint,
        attempts integer not null default 0,
        last_error text,
        expires_at bigint not null,
        created_at bigint not null,
        kept_until bigint
      )`,
      'create index mails_due on mails (due_at) where due_at is not null',
      'create index mails_lane on mails (lane, due_at, id) where due_at is not null',
      'create index mails_waiting on mails (created_at) where due_at is not null',
      'create index mails_expiry on mails (expires_at) where due_at is not null',
      'create index mails_kept on mails (kept_until) where kept_until is not null',
      'create index mails_owner on mails (owner_id) where owner_id is not null',
      'create index mails_account on mails (account_id) where account_id is not null',
      'create index mails_reseller on mails (reseller_id) where reseller_id is not null',
      `create table reset_requests (
        id ${t} primary key,
        network ${t} not null,
        sealed text not null,
        due_at bigint not null,
        expires_at bigint not null
      )`,
      'create index reset_requests_due on reset_requests (due_at)',
      'create index reset_requests_network on reset_requests (network, due_at, id)',
      'create index reset_requests_expiry on reset_requests (expires_at)',
    ]
  },
}
