import type { Migration } from '../migrate.ts'

/** Finds what a trial remembers of its device, which is bounded. */
export const trialMarks: Migration = {
  name: '0033-trial-marks',
  statements: () => ['create index trial_marks_client on trial_marks (client_id)'],
}
