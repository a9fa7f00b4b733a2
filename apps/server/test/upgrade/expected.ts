// What differs on purpose: everything else has to stay as it was.
import type { Expected } from './compare.ts'
import type { State } from './states.ts'

const time = 'it moves with the time, or with each call'

/** Differs between two answers of one server as well. */
export const movingAnswers: Expected[] = [{ at: /^\/api\/api-keys\/.*\/last(UsedAt|Address)$/, why: time }]
export const movingPrograms: Expected[] = [
  { at: /\/(reference|lastLoginAt|lastSeenAt|seat\/until)$/, why: time },
]

/** The expectations that apply to a state. */
export const expectedOf = (state: Pick<State, 'migrations'>, all: readonly Expected[]): Expected[] =>
  all.filter(({ before }) => before === undefined || !state.migrations.includes(before))

export const changedAnswers: Expected[] = [
  { at: /^\/api\/config\/body\/data\/version$/, why: 'it is another version' },
  { at: /\/user\/paymentStatus$/, why: 'a plan that the operator grants is not a paid one any more' },
  {
    at: /\/explanation\/(before|now)\/checks\//,
    why: 'a sign-in does not check whether the license was activated',
    before: '0040-accounts',
  },
  {
    at: /\/devices\/\d+\/offline$/,
    why: 'a device shows until when its lease lets it run',
    before: '0035-leased-places',
  },
]
export const changedRows: Expected[] = [
  {
    at: /^owners\/rows\/[^/]+\/(email|email_normalized|password_hash)$/,
    why: 'the account of the person has it, which signs in below',
    before: '0040-accounts',
  },
  {
    at: /^activity_counts$/,
    why: 'the activity log is counted by kind',
    before: '0032-activity-shares',
  },
]
