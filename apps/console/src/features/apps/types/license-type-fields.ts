import { type LicenseType, limits, unlimited } from '@keyward/contract'
import { licenseTypes } from '@keyward/contract/license-types'
import { z } from 'zod'
import { formatNumber } from '../../../lib/format/numbers.ts'
import type { TypeBody } from './license-types-queries.ts'

const body = licenseTypes.create.body!.shape
const whole = (min: number, max: number) => {
  const text = `Enter a whole number from ${min} to ${formatNumber(max)}`
  return z.int(text).min(min, text).max(max, text)
}

const manyDevices = `Enter a whole number from 1 to ${formatNumber(limits.devicesMax)}, or allow any number of devices`

/** The fields of the form. An empty number of days means no limit. */
export const typeSchema = z
  .object({
    name: body.name,
    term: body.term,
    amount: whole(1, 36_500),
    unit: z.enum(['hours', 'days', 'months', 'years']),
    graceDays: whole(0, limits.graceDaysMax),
    bound: z.enum(['devices', 'seats', 'any']),
    places: whole(1, limits.seatsMax),
    updatesForDays: z.union([z.nan().transform(() => null), whole(1, 36_500)]),
    features: z
      .string()
      .transform((text) => text.split(/[\s,]+/).filter(Boolean))
      .pipe(body.features.unwrap()),
    keyPrefix: z.union([z.literal('').transform(() => null), body.keyPrefix.unwrap()]),
    trial: z.boolean(),
    resellable: z.boolean(),
  })
  .refine(({ bound, places }) => bound !== 'devices' || places <= limits.devicesMax, {
    path: ['places'],
    message: manyDevices,
  })

type TypeValues = z.output<typeof typeSchema>

export const toForm = (type: LicenseType | undefined): z.input<typeof typeSchema> => ({
  name: type?.name ?? '',
  term: type?.term ?? 'first_use',
  amount: type?.duration?.value ?? 30,
  unit: type?.duration?.unit ?? 'days',
  graceDays: type?.graceDays ?? 0,
  bound: type && type.seats !== null ? 'seats' : type?.devices === unlimited ? 'any' : 'devices',
  places: type?.seats ?? Math.max(1, type?.devices ?? 1),
  updatesForDays: type?.updatesForDays ?? Number.NaN,
  features: type?.features.join(', ') ?? '',
  keyPrefix: type?.keyPrefix ?? '',
  trial: type?.trial ?? false,
  resellable: type?.resellable ?? false,
})

export function toBody({ term, amount, unit, bound, places, ...rest }: TypeValues): TypeBody {
  return {
    ...rest,
    term,
    duration: term === 'forever' ? null : { value: amount, unit },
    devices: bound === 'devices' ? places : bound === 'any' ? unlimited : 1,
    seats: bound === 'seats' ? places : null,
  }
}
