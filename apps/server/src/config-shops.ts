import { z } from 'zod'

const hosts = {
  stripe: 'https://api.stripe.com',
  paddle: 'https://api.paddle.com',
  lemonsqueezy: 'https://api.lemonsqueezy.com',
  gumroad: 'https://api.gumroad.com',
}

/** The kinds of shops that orders are read back from. */
type ReadableShop = keyof typeof hosts

export type ShopUrls = Readonly<Record<ReadableShop | 'paddleSandbox', string>>

const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .transform((url) => url.replace(/\/+$/, ''))
  .optional()

/** The environment variables that name other hosts of shops. */
export const shopUrlVariables = {
  SHOP_URL_STRIPE: url,
  SHOP_URL_PADDLE: url,
  SHOP_URL_LEMONSQUEEZY: url,
  SHOP_URL_GUMROAD: url,
}

type Values = { [name in keyof typeof shopUrlVariables]?: string | undefined }

export const listSetShopUrls = (values: Values): string[] =>
  Object.keys(shopUrlVariables).filter((name) => values[name as keyof Values] !== undefined)

export const shopUrlsOf = (values: Values): ShopUrls => ({
  stripe: values.SHOP_URL_STRIPE ?? hosts.stripe,
  paddle: values.SHOP_URL_PADDLE ?? hosts.paddle,
  paddleSandbox: values.SHOP_URL_PADDLE ?? 'https://sandbox-api.paddle.com',
  lemonsqueezy: values.SHOP_URL_LEMONSQUEEZY ?? hosts.lemonsqueezy,
  gumroad: values.SHOP_URL_GUMROAD ?? hosts.gumroad,
})
