import { z } from 'zod'
import { limits } from './constants.ts'
import { id, text } from './shared.ts'
import { webLink } from './web-link.ts'

const placeholder = '{reference}'

/** A page of a shop. Keyward fills in which license it is about, and never opens it. */
export const shopLink = webLink.refine(
  (link) => link.split(placeholder).length <= 2,
  `A link can contain ${placeholder} once`,
)

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
      `where to buy a license of this type; \`${placeholder}\` becomes the \`buyReference\` of the license, else \`reference\` is added to its query`,
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

/** The link as a customer gets it: with the reference of the license, or of nobody (null). */
export function fillLink(link: string, reference: string | null): string {
  if (link.includes(placeholder)) return link.replace(placeholder, reference ?? '')
  return reference === null ? link : withParameter(link, `reference=${reference}`)
}

/** The link with a further part of its query. */
export function withParameter(link: string, parameter: string): string {
  const [address = '', ...fragment] = link.split('#')
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return [address + joint + parameter, ...fragment].join('#')
}

export type TypeUpgrade = z.output<typeof upgrade>
export type Links = z.output<typeof links>
