import { type BodyInputOf, type endpoints, limits, newApiKey } from '@keyward/contract'
import { z } from 'zod'
import { addDuration, endOfLocalDay, toDayInput } from '../../lib/format/dates.ts'
import { presets } from './permission-words.ts'

const { name, permissions, apps } = newApiKey.shape

export const expiries = [
  { value: 'days-30', label: 'In 30 days' },
  { value: 'days-90', label: 'In 90 days' },
  { value: 'months-12', label: 'In one year' },
  { value: 'date', label: 'On a date' },
  { value: 'never', label: 'Never' },
]

/** The fields of the dialog; `toRequest` maps them to the call. */
export const createSchema = z
  .object({
    name,
    permissions,
    apps,
    expiry: z.string(),
    expiresAt: z.string(),
    networks: z
      .string()
      .transform(toLines)
      .refine(
        (lines) => lines.length <= limits.apiKeyNetworksMax,
        `A key can name at most ${limits.apiKeyNetworksMax} networks`,
      ),
  })
  .refine(({ expiry, expiresAt }) => expiry !== 'date' || expiresAt >= toDayInput(new Date()), {
    path: ['expiresAt'],
    message: 'Choose today or a later day',
  })

export type CreateValues = z.output<typeof createSchema>

export const createDefaults: z.input<typeof createSchema> = {
  name: '',
  permissions: [...presets.issue.permissions],
  apps: null,
  expiry: 'months-12',
  expiresAt: '',
  networks: '',
}

function toLines(text: string): string[] {
  return text.split(/[\s,]+/).filter((line) => line !== '')
}

export const toRequest = ({
  expiry,
  expiresAt,
  ...rest
}: CreateValues): BodyInputOf<typeof endpoints.apiKeys.create> => ({
  ...rest,
  expiresAt: toExpiry(expiry, expiresAt),
})

/** Keys end with a local day. */
function toExpiry(expiry: string, day: string): string | null {
  if (expiry === 'never') return null
  if (expiry === 'date') return endOfLocalDay(day)
  const [unit = '', amount] = expiry.split('-')
  return endOfLocalDay(toDayInput(addDuration(new Date(), Number(amount), unit as 'days' | 'months')))
}
