import type { ShopKind } from '@keyward/contract'
import type { ShopRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Outbound } from '../../service/outbound/outbound.ts'
import { isPaddleSandbox } from './paddle.adapter.ts'
import { type ReadBack, ReadBackError } from './shop-adapter.ts'
import { apiKeyOf } from './shops.repo.ts'
import { stripeVersion } from './stripe.adapter.ts'

/** A larger object is cut off, and so is no JSON. */
const bytesMax = 65_536

const headersOf: Partial<Record<ShopKind, Record<string, string>>> = {
  stripe: { 'stripe-version': stripeVersion },
  paddle: { 'paddle-version': '1' },
  lemonsqueezy: { accept: 'application/vnd.api+json' },
}

/** Reads from the fixed host of a shop with the vendor's key. Its errors say nothing of what the shop answered. */
export function readBackOf({ config, seal }: Ctx, outbound: Outbound, shop: ShopRow): ReadBack {
  const { kind } = shop
  const apiKey = apiKeyOf(seal, shop)
  const isSandbox = kind === 'paddle' && apiKey !== undefined && isPaddleSandbox(apiKey)
  const read = async (path: string): Promise<unknown> => {
    if (kind === 'custom' || apiKey === undefined) throw new ReadBackError('It has no API key.')
    const { status, body } = await outbound.exchange({
      method: 'GET',
      url: `${config.shopUrls[isSandbox ? 'paddleSandbox' : kind]}${path}`,
      headers: { accept: 'application/json', ...headersOf[kind], authorization: `Bearer ${apiKey}` },
      body: '',
      keptBytes: bytesMax,
    })
    if (status !== 200) throw new ReadBackError(`It answered with the status ${status}.`, status)
    return JSON.parse(body.toString('utf8'))
  }
  return Object.assign(read, { isSandbox })
}
