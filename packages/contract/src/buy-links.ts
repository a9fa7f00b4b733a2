import { z } from 'zod'
import { limits } from './constants.ts'
import { id, text } from './shared.ts'
import { shopLink } from './web-link.ts'

const upgrade = z.strictObject({
  type: id.describe('the `_id` of another license type of the app'),
  name: text(1, 60, 'Name').describe('what people read on the link'),
  url: shopLink,
})

/** Where people with a license of a type buy again. They apply to sold licenses at once. */
export const typeLinks = {
  buyUrl: shopLink
    .nullable()
    .describe(
      'where to buy a license of this type; `{reference}` becomes the `buyReference` of the license, else `reference` is added to its query',
    ),
  renewUrl: shopLink.nullable().describe('where to pay for more time of a license of this type'),
  upgrades: z
    .array(upgrade)
    .max(limits.typeUpgradesMax, `At most ${limits.typeUpgradesMax} upgrades`)
    .describe('the types that a license of this one can become by a payment'),
}

/** The links that a program or a customer gets. */
export const links = z.strictObject({
  buy: z.string().nullable(),
  renew: z.string().nullable(),
  upgrades: z.array(z.strictObject({ name: z.string(), url: z.string() })),
})

export type TypeUpgrade = z.output<typeof upgrade>
export type Links = z.output<typeof links>
