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
    /** `date`, `first_use`, `forever`, or the `_id` of a license type. */
    term: z.string(),
    unit: z.enum(['hours', 'days', 'months']),
    duration: z.int('Enter a whole number of 1 or more').min(1, 'Enter a whole number of 1 or more'),
    /** Whose the licenses become, by `_id`. */
    reseller: body.reseller,
    customer: z.union([blank, body.customer.unwrap().unwrap()]),
    ...blankable(licenseDetails),
    key: z.union([blank, body.key.unwrap()]),
  })
  .refine(({ term, duration, unit }) => !hasDuration(term) || expiryAfter(duration, unit) !== undefined, {
    path: ['duration'],
    message: 'This date is too far in the future',
  })
  .refine((values) => values.key === undefined || values.amount === 1, {
    path: ['key'],
    message: 'You can create only one custom key at a time. Set the amount to 1.',
  })

export type GenerateInput = z.input<typeof generateSchema>
export type GenerateValues = z.output<typeof generateSchema>

export const generateDefaults = {
  amount: 1,
  term: 'date',
  unit: 'days',
  duration: 30,
  customer: '',
  note: '',
  key: '',
} as const

export function toRequest({
  amount,
  term,
  unit,
  duration,
  ...rest
}: GenerateValues): BodyInputOf<typeof endpoints.licenses.create> {
  const body = { ...rest, count: amount }
  if (term === 'date') return { ...body, expiresAt: expiryAfter(duration, unit)!.toISOString() }
  if (term === 'first_use') return { ...body, duration: { value: duration, unit } }
  return term === 'forever' ? { ...body, expiresAt: null } : { ...body, type: term }
}

/** Other terms have no duration of their own. */
export const hasDuration = (term: string): boolean => term === 'date' || term === 'first_use'

export const termOptions = [
  { value: 'date', label: 'Until a date' },
  { value: 'first_use', label: 'From first use' },
  { value: 'forever', label: 'Never expires' },
]

export function hasMissingFields(values: GenerateInput): boolean {
  return !values.app || !values.unit || Number.isNaN(values.amount) || Number.isNaN(values.duration)
}
