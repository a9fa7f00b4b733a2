import type { Migration } from '../migrate.ts'

/** A request with an Idempotency-Key stores what it has committed before it has an answer; the run that does is named. */
export const interruptedRequests: Migration = {
  name: '0043-interrupted-requests',
  statements: () => ['alter table idempotency_keys add column runner text'],
}
