import { z } from 'zod'
import { limits } from './constants.ts'
import { banReason, id, isoTime } from './shared.ts'
import { duration, licenseTerm } from './terms.ts'

const endTime = isoTime.max(40)
const termState = z.strictObject({ term: licenseTerm, duration: duration.nullable() })
const endChange = z.strictObject({
  before: endTime.nullable(),
  after: endTime.nullable(),
  pausedAt: endTime
    .nullable()
    .describe('since when its end user keeps the time that is left; null if not paused'),
  terms: z
    .strictObject({ before: termState, after: termState })
    .optional()
    .describe('of the license, if its term changed'),
  added: z
    .array(z.strictObject({ _id: id, addedMs: z.int(), takenMs: z.int().nullable() }))
    .max(limits.undoAddedMax)
    .optional()
    .describe('what the added keys of the end user gave to its end'),
})
const fitsTerm = ({ before, terms }: z.output<typeof endChange>) =>
  terms === undefined ||
  (terms.before.term === 'first_use'
    ? terms.before.duration !== null
    : (terms.before.term === 'forever') === (before === null))
const banState = z.strictObject({ banned: z.boolean(), reason: banReason.nullable() })

/** What a bulk change did to a row: its end or its ban. `undo` takes it back unless the row has changed since. */
export const undoRow = z.strictObject({
  _id: id,
  end: endChange.optional(),
  ban: z.strictObject({ before: banState, after: banState }).optional(),
  usedBy: id.nullable().optional().describe('the end user of the license when its end changed'),
})

export const undoRows = z
  .array(undoRow)
  .max(limits.bulkMax)
  .describe('the rows that really changed, for `undo`; empty after other actions')
export const undoBody = z.strictObject({
  undo: z
    .array(
      undoRow
        .refine((row) => (row.end === undefined) !== (row.ban === undefined), {
          path: ['end'],
          message: 'Exactly one of end and ban is required',
        })
        .refine(({ end }) => end === undefined || fitsTerm(end), {
          path: ['end', 'terms'],
          message: 'The term does not fit the end',
        }),
    )
    .min(1)
    .max(limits.bulkMax),
})

export type UndoRow = z.output<typeof undoRow>
