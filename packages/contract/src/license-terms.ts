import { z } from 'zod'
import { limits, unlimited } from './constants.ts'
import { graceDays } from './terms.ts'

const featureName = z
  .string()
  .trim()
  .max(64, { error: 'A feature has 1 to 64 letters, digits or . _ : -', abort: true })
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/, 'A feature has 1 to 64 letters, digits or . _ : -')

/** Names of features, each once. */
export const features = z
  .array(featureName)
  .max(limits.featuresMax, `At most ${limits.featuresMax} features`)
  .refine((names) => new Set(names).size === names.length, 'Each feature can be named once')

const devicesText = `Must be 1 to ${limits.devicesMax}, or -1 for any number`

/** How many devices may use a license; -1 for any number. */
export const devices = z.union(
  [z.literal(unlimited), z.int(devicesText).min(1, devicesText).max(limits.devicesMax, devicesText)],
  devicesText,
)

/** The terms of a license, besides how long it lasts. */
export const termsFields = {
  graceDays,
  devices,
  seats: z
    .int()
    .min(1)
    .max(limits.seatsMax)
    .nullable()
    .describe('null: bound to devices; else so many at the same time, on any device'),
  seatTimeoutSeconds: z.int().min(60).max(86_400),
  features,
  updatesForDays: z
    .int()
    .min(1)
    .max(36_525)
    .nullable()
    .describe('covers versions released within so many days; null: all versions'),
  trial: z.boolean(),
}

/** A license for one device that covers all versions. */
export const termsDefaults = {
  graceDays: 0,
  devices: 1,
  seats: null,
  seatTimeoutSeconds: 600,
  features: [] as string[],
  updatesForDays: null,
  trial: false,
}
