import { z } from 'zod'
import { serverNow } from '../../lib/api/server-time.ts'
import { toDayInput } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'

export const latestDay = '9999-12-31'

export const noteSchema = z.object({ note: z.string() })

const day = z.iso
  .date('Choose an expiration date')
  .refine((text) => text >= toDayInput(serverNow()), 'The expiration date cannot be before today')
  .refine((text) => text <= latestDay, 'This date is too far in the future')

export function generateSchema(remaining: number) {
  const whole = `Enter a whole number from 1 to ${formatNumber(remaining)}`
  return z
    .object({
      count: z.int(whole).min(1, whole).max(remaining, whole),
      /** The `_id` of a license type; empty for an expiration date. */
      type: z.string(),
      expiresAt: z.string(),
      ...noteSchema.shape,
    })
    .superRefine(({ type, expiresAt }, context) => {
      if (type !== '') return
      const message = day.safeParse(expiresAt).error?.issues[0]?.message
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['expiresAt'], message })
    })
}
