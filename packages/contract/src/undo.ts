import { z } from 'zod'
import { limits } from './constants.ts'
import { banReason, id, isoTime } from './shared.ts'

const endTime = isoTime.max(40)
const endChange = z.strictObject({
  before: endTime.nullable(),
  after: endTime.nullable(),
  grant: id.describe('what the change granted'),
})
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
      undoRow.refine((row) => (row.end === undefined) !== (row.ban === undefined), {
        path: ['end'],
        message: 'Exactly one of end and ban is required',
      }),
    )
    .min(1)
    .max(limits.bulkMax),
})

export type UndoRow = z.output<typeof undoRow>
