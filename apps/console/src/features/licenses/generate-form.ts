import { type BodyInputOf, type endpoints, licenseDetails, limits } from '@keyward/contract'
import { licenses as licensesEndpoints } from '@keyward/contract/licenses'
import { z } from 'zod'
import { expiryAfter } from './expiry.ts'

const body = licensesEndpoints.create.body!.shape
const amountText = `Enter a whole number from 1 to ${limits.generateMax}`
const blank = z.literal('').transform(() => undefined)

/** Optional fields that may also be left blank. */
const blankable = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, z.union([blank, field])]),
  ) as unknown as { [Name in keyof Shape]: z.ZodUnion<readonly [typeof blank, Shape[Name]]> }

/** The fields of the dialog; `toRequest` maps amount and duration to count and date. */
export const generateSchema = z
  .object({
    app: body.app,
    amount: z.int(amountText).min(1, amountText).max(limits.generateMax, amountText),
    unit: z.enum(['hours', 'days', 'months']),
    duration: z.int('Enter a whole number of 1 or more').min(1, 'Enter a whole number of 1 or more'),
    ...blankable(licenseDetails),
    key: z.union([blank, body.key.unwrap()]),
  })
  .refine((values) => expiryAfter(values.duration, values.unit) !== undefined, {
    path: ['duration'],
    message: 'This date is too far in the future',
  })
  .refine((values) => values.key === undefined || values.amount === 1, {
    path: ['key'],
    message: 'You can create only one custom key at a time. Set the amount to 1.',
  })

export type GenerateInput = z.input<typeof generateSchema>
export type GenerateValues = z.output<typeof generateSchema>

export const generateDefaults = { amount: 1, unit: 'days', duration: 30, note: '', key: '' } as const

export function toRequest({
  amount,
  unit,
  duration,
  ...rest
}: GenerateValues): BodyInputOf<typeof endpoints.licenses.create> {
  return { ...rest, expiresAt: expiryAfter(duration, unit)!.toISOString(), count: amount }
}

export function hasMissingFields(values: GenerateInput): boolean {
  return !values.app || !values.unit || Number.isNaN(values.amount) || Number.isNaN(values.duration)
}
