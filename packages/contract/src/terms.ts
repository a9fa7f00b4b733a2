import { z } from 'zod'
import { limits } from './constants.ts'
import { isoTime } from './shared.ts'

/** `date`: until a date. `forever`: never expires. `first_use`: for a duration that starts with the first use. */
export const licenseTerm = z.enum(['date', 'forever', 'first_use'])

export const durationUnits = ['hours', 'days', 'months', 'years'] as const

/** At most 100 years in each unit. */
const most = { hours: 876_600, days: 36_525, months: 1200, years: 100 } as const

/** A length of time of at most 100 years; months and years are those of the calendar, see `dayMonthsLater`. */
export const duration = z
  .strictObject({ value: z.int().min(1).max(most.hours), unit: z.enum(durationUnits) })
  .refine(({ value, unit }) => value <= most[unit], {
    path: ['value'],
    message: 'A duration can have at most 100 years',
  })

export const graceDays = z.int().min(0).max(limits.graceDaysMax)

/** When a license or an end user's access ends. */
export const ending = {
  expiresAt: isoTime.nullable().describe('null if it never expires, and before the first use'),
  graceDays: z.int().describe('access continues for these days after expiresAt'),
  inGrace: z.boolean().describe('true after expiresAt, while access continues'),
}

/** The term of a license. */
export const licenseTerms = {
  term: licenseTerm,
  duration: z
    .strictObject({ value: z.int(), unit: z.enum(durationUnits) })
    .nullable()
    .describe('of a first_use license, else null'),
  startedAt: isoTime.nullable().describe('first use of a first_use license'),
}

export type LicenseTerm = z.output<typeof licenseTerm>
export type Duration = z.output<typeof duration>
