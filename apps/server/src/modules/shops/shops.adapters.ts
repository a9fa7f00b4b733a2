import type { ShopKind } from '@keyward/contract'
import { customShop } from './custom.adapter.ts'
import { gumroadShop } from './gumroad.adapter.ts'
import { lemonSqueezyShop } from './lemonsqueezy.adapter.ts'
import { paddleShop } from './paddle.adapter.ts'
import type { ShopAdapter } from './shop-adapter.ts'
import { stripeShop } from './stripe.adapter.ts'

export const adapters: Readonly<Record<ShopKind, ShopAdapter>> = {
  custom: customShop,
  stripe: stripeShop,
  paddle: paddleShop,
  lemonsqueezy: lemonSqueezyShop,
  gumroad: gumroadShop,
}
