import { type LicenseType, limits } from '@keyward/contract'
import { licenseTypes } from '@keyward/contract/license-types'
import { z } from 'zod'
import { formatNumber } from '../../../lib/format/numbers.ts'

const body = licenseTypes.update.body!.shape
const link = z
  .string()
  .transform((text) => text.trim() || null)
  .pipe(body.buyUrl.unwrap())
const months = `Enter a whole number from 1 to ${formatNumber(limits.fallbackMonthsMax)}`

/** The links of a type. An empty number of months means never. */
export const typeLinksSchema = z.object({
  renewUrl: link,
  buyUrl: link,
  upgrades: body.upgrades.unwrap(),
  fallbackAfterMonths: z.union([
    z.nan().transform(() => null),
    z.int(months).min(1, months).max(limits.fallbackMonthsMax, months),
  ]),
})

export type TypeLinks = z.output<typeof typeLinksSchema>

export const toLinksForm = (type: LicenseType): z.input<typeof typeLinksSchema> => ({
  renewUrl: type.renewUrl ?? '',
  buyUrl: type.buyUrl ?? '',
  upgrades: type.upgrades,
  fallbackAfterMonths: type.fallbackAfterMonths ?? Number.NaN,
})
