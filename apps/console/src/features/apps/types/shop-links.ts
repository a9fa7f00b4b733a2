import { fillLink, shopLinkIssue, withParameter } from '@keyward/contract'

interface Shop {
  name: string
  host: RegExp
  /** The part of the query that the shop returns with the order; null if it returns none. */
  parameter: string | null
}

/** By the shops' documentation, read on 2026-11-30; `docs/shops.md` says where. */
const shops: Shop[] = [
  { name: 'Stripe', host: /(^|\.)stripe\.com$/, parameter: 'client_reference_id' },
  { name: 'Lemon Squeezy', host: /(^|\.)lemonsqueezy\.com$/, parameter: 'checkout[custom][reference]' },
  { name: 'Gumroad', host: /(^|\.)(gumroad\.com|gum\.co)$/, parameter: 'reference' },
  { name: 'Paddle', host: /(^|\.)paddle\.(com|io)$/, parameter: null },
]

/** What a reference looks like. */
export const sampleReference = 'kwr_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'

/** A link as the customer of the sample reference gets it; undefined while it is none. */
export const sampleOf = (link: string): string | undefined =>
  shopLinkIssue(link) === undefined ? fillLink(link.trim(), sampleReference) : undefined

export interface Advice {
  text: string
  /** The link that returns the reference. */
  better?: string
}

/** What to change in a link whose shop does not return the reference. */
export function adviceOn(link: string): Advice | undefined {
  const sample = sampleOf(link)
  const url = sample === undefined ? null : URL.parse(sample)
  const shop = shops.find(({ host }) => url && host.test(url.hostname))
  if (!url || !shop) return undefined
  const { name, parameter } = shop
  if (parameter === null) {
    return {
      text: `${name} returns no reference from its own addresses. Link to a page of yours that opens the checkout with customData: { reference }.`,
    }
  }
  if (url.searchParams.get(parameter) === sampleReference) return undefined
  const text = `${name} returns the reference only as ${parameter}. Without it a payment makes a new key.`
  const isFilled = link.includes('{reference}')
  return isFilled ? { text } : { text, better: withParameter(link.trim(), `${parameter}={reference}`) }
}
