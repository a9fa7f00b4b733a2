import { z } from 'zod'
import { toDayInput } from '../../lib/format/dates.ts'

export const latestDay = '9999-12-31'

export function generateSchema(remaining: number) {
  const whole = `Enter a whole number from 1 to ${remaining.toLocaleString()}`
  return z.object({
    count: z.int(whole).min(1, whole).max(remaining, whole),
    expiresAt: z.iso
      .date('Choose an expiration date')
      .refine((day) => day >= toDayInput(Date.now()), 'The expiration date cannot be before today')
      .refine((day) => day <= latestDay, 'This date is too far in the future'),
  })
}
