import { z } from 'zod'
import { limits, orderChoices, orderReasonCodes, orderStates, saleKinds, shopKinds } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { timeZone } from './sales.ts'
import {
  appFilter,
  appRef,
  email,
  id,
  idParams,
  isoTime,
  none,
  pageQuery,
  pagination,
  search,
  text,
} from './shared.ts'
import { toldAmount, toldCurrency, toldFlag, toldLines, toldText, toOrderNumber } from './told-values.ts'

const kind = z.enum(shopKinds)

const productName = text(1, limits.shopTextMax, 'Product').describe('as the shop names it in its orders')

const product = z.strictObject({
  product: productName,
  type: id
    .nullable()
    .describe('the `_id` of a license type of the app; null for a product that needs no license'),
  quantity: z
    .int()
    .min(1)
    .max(limits.orderLicensesMax)
    .optional()
    .describe('licenses for each one that is bought; 1 by default'),
})

export const shop = z.strictObject({
  _id: z.string(),
  app: appRef,
  kind,
  name: z.string(),
  products: z.array(product.required()),
  hook: z
    .string()
    .nullable()
    .describe(
      'the path below the server’s address that the shop sends its events to; for `gumroad` it ends with a secret, and is null without `secrets:read`',
    ),
  active: z.boolean().describe('events of a paused shop are stored and wait until it is resumed'),
  lastEventAt: isoTime.nullable(),
  waiting: z
    .int()
    .describe(
      `events that wait: for the shop to be resumed, for their turn, or for another attempt; ${limits.shopWaitingShown} at most`,
    ),
  createdAt: isoTime,
})

const name = text(1, 60, 'Name')

const secret = z
  .string()
  .trim()
  .min(1, 'Secret is required')
  .max(limits.shopSecretMax, `Secret can have at most ${limits.shopSecretMax} characters`)
  .describe(
    'what the shop signs its events with; for `custom`, `whsec_` and 24 to 64 bytes in Base64; for `gumroad`, which signs nothing, the id of the seller',
  )

const apiKey = z
  .string()
  .trim()
  .min(1, 'API key is required')
  .max(limits.shopSecretMax, `API key can have at most ${limits.shopSecretMax} characters`)
  .describe(
    'reads orders back from the shop; required for `stripe`, `paddle` and `gumroad`. A restricted key that reads is enough',
  )

const products = z
  .array(product)
  .max(limits.shopProductsMax, `A shop can have at most ${limits.shopProductsMax} products`)
  .refine(
    (all) => new Set(all.map(({ product: one }) => one)).size === all.length,
    'A product can be listed once only',
  )

/** What a vendor chooses when it adds a shop. */
export const newShop = z.strictObject({
  kind,
  name,
  secret,
  apiKey: apiKey.optional(),
  products: products.default([]),
})

const oneShop = z.strictObject({ shop })
const tag = 'Shops and orders'

export const shops = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/shops',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: `List the shops of an app, oldest first; an app has at most ${limits.shopsMax}`,
    params: idParams,
    data: z.strictObject({ shops: z.array(shop) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/apps/:id/shops',
    access: 'owner',
    permission: ['licenses:write', 'secrets:write'],
    confirm: 'always',
    tag,
    summary: 'Add a shop; its orders create licenses. Its secret is never returned',
    params: idParams,
    body: newShop,
    bodyLimit: 196_608,
    data: oneShop,
    status: 201,
    errors: ['shops_full'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/shops/:id',
    access: 'owner',
    permission: 'licenses:write',
    also: [
      {
        when: 'a new `secret` or `apiKey`',
        fields: ['secret', 'apiKey'],
        permission: ['secrets:write'],
        confirm: 'always',
      },
    ],
    tag,
    summary: 'Change, pause or resume a shop; orders that waited for one of its products are tried again',
    params: idParams,
    body: z.strictObject({ name, secret, apiKey, products, active: z.boolean() }).partial(),
    bodyLimit: 196_608,
    data: oneShop,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/shops/:id',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary: 'Delete a shop: its address answers 404. Its orders and their licenses stay',
    params: idParams,
    data: none,
  }),
  test: endpoint({
    method: 'POST',
    path: '/shops/:id/test',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary:
      'Let a test order of the first product arrive, as if the shop had sent it. It creates licenses and sends no mail',
    params: idParams,
    data: z.strictObject({ order: z.string().describe('its number, to find it in the list of orders') }),
    errors: ['shop_paused'],
  }),
}

const state = z.enum(orderStates)

/** Whether the buyer got the keys by mail: `none` for test orders, for buyers that were erased, without an address, and before there are keys. */
export const orderMailStates = ['queued', 'sent', 'failed', 'none', 'waiting'] as const
/** What a waiting mail waits for: the vendor confirms its address, the next day, or the next hour. */
export const orderMailWaits = ['confirmation', 'day', 'free_orders'] as const

export const shopOrder = z.strictObject({
  _id: z.string(),
  app: appRef,
  shop: z.strictObject({ _id: z.string(), name: z.string(), kind }),
  order: z.string().describe('the shop’s number or id of the order'),
  email: z
    .string()
    .nullable()
    .describe('as the shop told it; null before the order itself has arrived, and if it has none'),
  name: z.string().nullable(),
  customer: z.string().nullable().describe('the `_id` of the customer; null for test orders'),
  amount: z.int().nullable().describe('in the currency’s smallest unit'),
  currency: z.string().nullable(),
  test: z.boolean(),
  lines: z.array(z.strictObject({ product: z.string(), quantity: z.int() })),
  state,
  reason: z.string().nullable().describe('what a waiting order needs'),
  reasonCode: z.enum(orderReasonCodes).nullable().describe('the same for programs'),
  choices: z.array(z.enum(orderChoices)).describe('what you can decide about a waiting order, see its retry'),
  licenses: z
    .array(z.strictObject({ _id: z.string(), key: z.string() }))
    .describe('those that the order has created'),
  renewed: z
    .strictObject({ _id: z.string(), key: z.string() })
    .nullable()
    .describe('the license that it renews or upgrades, because it has its `buyReference`'),
  deletedLicenses: z.int().describe('how many of the licenses that it created or renewed are deleted since'),
  mail: z.enum(orderMailStates),
  mailWaitsFor: z
    .enum(orderMailWaits)
    .nullable()
    .describe(
      'why the mail waits: `confirmation` until you confirm your address, `day` until more mails may be sent, `free_orders` because the shop sent many orders that cost nothing',
    ),
  createdAt: isoTime,
})

const oneOrder = z.strictObject({ order: shopOrder })

export const orders = {
  list: endpoint({
    method: 'GET',
    path: '/orders',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary:
      'List orders of shops, newest first. `search` is an order’s number or the beginning of its buyer’s address',
    query: pageQuery.extend({
      app: appFilter,
      shop: id.optional(),
      state: state.optional(),
      license: id.optional().describe('orders that a license belongs to'),
      customer: id.optional(),
      sale: z
        .enum(saleKinds)
        .optional()
        .describe('orders that `GET /sales` counts so, within the days if they are given'),
      from: z.iso
        .date()
        .max(10)
        .optional()
        .describe('orders that took or gave back money on this day or later'),
      to: z.iso.date().max(10).optional(),
      timeZone,
      currency: z.string().max(10).optional().describe('in capital letters; empty for none'),
      product: z
        .string()
        .max(limits.shopTextMax)
        .optional()
        .describe('as `GET /sales` names it; empty for orders of several products, or of none'),
      search,
    }),
    data: z.strictObject({
      orders: z.array(shopOrder),
      pagination,
      totals: z
        .array(
          z.strictObject({
            currency: z.string().nullable(),
            orders: z.int(),
            revenue: z.int(),
            refunds: z.int(),
            refunded: z.int(),
          }),
        )
        .nullable()
        .describe(
          `what the orders that match took and gave back, by currency, as \`GET /sales\` counts it; null for more than ${limits.searchCountMax}`,
        ),
    }),
  }),
  retry: endpoint({
    method: 'POST',
    path: '/orders/:id/retry',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary:
      'Try a waiting order again now, or decide about it by one of its `choices`. Without a choice, an order that waits because a part was refunded keeps its licenses, and one without an address is handed over by the vendor',
    params: idParams,
    body: z.strictObject({
      choice: z
        .enum(orderChoices)
        .optional()
        .describe(
          '`keep` its licenses; `ban` them, until a later payment; `end` as many `licenses` as units were given up; `replace` the other subscription of the license, which changes it no more; `newLicense` instead of the license that it names',
        ),
      licenses: z
        .array(id)
        .min(1)
        .max(limits.orderLicensesMax)
        .optional()
        .describe('the licenses of the order that end'),
    }),
    bodyLimit: 32_768,
    data: oneOrder,
    errors: ['order_not_waiting', 'order_choice_invalid'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/orders/:id',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary:
      'Enter the buyer’s address of an order that has no customer: its licenses go to the customer of this address, who gets the keys by mail',
    params: idParams,
    body: z.strictObject({ email }),
    data: oneOrder,
    errors: ['order_has_customer', 'order_without_mail'],
  }),
  mail: endpoint({
    method: 'POST',
    path: '/orders/:id/mail',
    access: 'owner',
    permission: { anyOf: ['licenses:write', 'clients:write'] },
    tag,
    summary: `Mail the keys of an order to its buyer again, at most ${limits.orderMailsPerDay} times a day. They go to the customer’s address; keys that another customer has by now are left out`,
    params: idParams,
    data: oneOrder,
    errors: ['order_mail_queued', 'order_without_mail', 'rate_limited'],
  }),
}

export const hooks = {
  receive: endpoint({
    method: 'POST',
    path: '/hooks/:id',
    access: 'public',
    tag,
    summary:
      'Receive an event of a shop, signed by its scheme. Answers once the event is stored; an event that is sent again changes nothing',
    params: z.object({ id: z.string().min(1).max(100) }),
    raw: true,
    bodyLimit: 262_144,
    data: none,
    errors: ['unauthorized', 'not_found', 'rate_limited'],
  }),
}

const orderAmount = z.int().min(0).max(1e12)
const until = z.iso.datetime({ offset: true })
const named = (label: string) =>
  z
    .union([z.string(), z.number()])
    .transform(toOrderNumber)
    .pipe(text(1, limits.shopTextMax, label))
const orderNumber = named('Order')
const payment = named('Payment')
  .optional()
  .describe('the payment, as the shop names it; what is told of it concerns no other one')
const dispute = named('Dispute').optional().describe('tells disputes of one order apart')
const currency = text(1, 10, 'Currency').optional()
/** The events of a shop of one's own, by their type: the `data` of a body `{ type, timestamp, data }`. */
export const customShopEvents = {
  'order.paid': z.object({
    order: orderNumber,
    payment: payment.catch(undefined),
    email: toldText,
    name: toldText,
    amount: toldAmount,
    currency: toldCurrency,
    test: toldFlag,
    locale: toldText.describe('language of the mail with the keys, for example "de-AT"'),
    lines: toldLines(limits.orderLinesMax),
    reference: toldText.describe('the `buyReference` of the license that the order renews or upgrades'),
  }),
  'order.refunded': z.object({
    order: orderNumber,
    payment,
    amount: orderAmount
      .optional()
      .describe('a smaller amount than that of the payment, or of all payments, is a partial refund'),
  }),
  'order.disputed': z.object({ order: orderNumber, payment, dispute }),
  'order.dispute_won': z.object({ order: orderNumber, payment, dispute }),
  'subscription.renewed': z.object({
    order: orderNumber,
    until,
    payment,
    amount: orderAmount.optional(),
    currency,
  }),
  'subscription.changed': z.object({
    order: orderNumber,
    product: productName,
    until,
    quantity: z.int().min(1).max(1e6).optional().describe('units that are paid now'),
  }),
  'subscription.payment_failed': z.object({ order: orderNumber, payment }),
  'subscription.ended': z.object({ order: orderNumber }),
} as const

export type Shop = z.output<typeof shop>
export type ShopKind = z.output<typeof kind>
export type ShopProduct = z.output<typeof product>
export type ShopOrder = z.output<typeof shopOrder>
export type ShopOrderState = z.output<typeof state>
export type OrderReasonCode = (typeof orderReasonCodes)[number]
export type OrderChoice = (typeof orderChoices)[number]
export type OrderMailState = (typeof orderMailStates)[number]
export type OrderMailWait = (typeof orderMailWaits)[number]
