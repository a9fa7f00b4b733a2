import { z } from 'zod'
import { limits } from './constants.ts'
import { isoTime } from './shared.ts'

/** What was granted to a license or an end user: the reasons for its end. */
export const grant = z.strictObject({
  _id: z.string(),
  kind: z
    .enum(['term', 'end', 'time', 'pause', 'period'])
    .describe(
      'term: the end of the license itself; end: an end that replaced all before it; time: time that was added; pause: access waited; period: what an order gives until its own end, beside the rest',
    ),
  amount: z.int().nullable().describe('milliseconds that were added; null: not time, or a key without end'),
  from: isoTime,
  until: isoTime
    .nullable()
    .describe(
      'of a term or an end: null for never, or before the first use; of a pause: when it was resumed; of an added key and of a period: when its rights end',
    ),
  source: z.strictObject({
    kind: z.enum(['key', 'order', 'person', 'import', 'program']),
    _id: z.string().nullable(),
    name: z
      .string()
      .nullable()
      .describe('the number of the order, the name of the person or API key, or the beginning of the key'),
  }),
  withdrawnAt: isoTime.nullable().describe('since when it does not count'),
})

export const grants = z
  .array(grant)
  .max(limits.grantsMax)
  .describe('what was granted, newest first: why it ends when it does')

/** What a key that `upgrade` added allows. */
export const addedRights = z.strictObject({
  license: z.string(),
  features: z.array(z.string()),
  devices: z.int(),
  seats: z.int().nullable(),
  until: isoTime.nullable().describe('null: as long as the end user has access'),
})

/** What a customer sees of it. */
export const ownRights = addedRights.omit({ license: true })

export type Grant = z.output<typeof grant>
export type AddedRights = z.output<typeof addedRights>
export type OwnRights = z.output<typeof ownRights>
