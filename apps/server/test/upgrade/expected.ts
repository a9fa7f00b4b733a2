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

const paused = 'while an end user is paused, its end moves with the time in every answer'
const added = 'keys that were added give their features and devices, and not time alone'

export const changedPrograms: Expected[] = [
  { at: /\/Ida\/details\/expiresAt$/, why: paused, before: '0095-grants' },
  { at: /\/Gil\/user\/(devices\/limit|features\/length)$/, why: added, before: '0036-added-rights' },
]
export const changedAnswers: Expected[] = [
  { at: /\/explanation\/now\/expiresAt$/, why: paused, before: '0095-grants' },
  { at: /\/clients\/[^/]+\/devices\/body\/data\/limit$/, why: added, before: '0036-added-rights' },
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
    at: /^clients\/rows\/[^/]+\/name_skeleton$/,
    why: 'names that look alike are allowed',
    before: '0099-names-alike',
  },
  {
    at: /^import(s|_chunks|_skips)$/,
    why: 'an import by one call is a job like every other import',
    before: '0098-called-imports',
  },
  {
    at: /^(license|client)_places\//,
    why: 'places count rows by their number alone',
    before: '0101-places-of-lists',
  },
  {
    at: /^(license|client)_(counts|places|blocks)\//,
    why: 'what a pause holds is counted after all dates; the counts are compared with the rows below',
    before: '0095-grants',
  },
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
