import type { Migration } from '../migrate.ts'

/** Which of the disputes of a payment its state is of. */
export const disputeIds: Migration = {
  name: '0005-dispute-ids',
  statements: (dialect) => [
    `alter table payments add column dispute_id ${dialect === 'postgres' ? 'text collate "C"' : 'text'}`,
  ],
}
