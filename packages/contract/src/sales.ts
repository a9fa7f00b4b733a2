import { z } from 'zod'
import { isSaleRange } from './calendar.ts'
import { limits, type saleKinds, shopKinds } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { appFilter, isoTime, none } from './shared.ts'

export const timeZone = z
  .string()
  .max(60)
  .refine(isTimeZone, 'There is no such time zone')
  .default('UTC')
  .describe('IANA name, for example `Europe/Berlin`')

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Offsets like +02:00 have no rules for summer.
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}

const query = z
  .object({
    app: appFilter,
    from: z.iso.date().max(10).describe('the first day, in the time zone'),
    to: z.iso.date().max(10).describe('the last day, which counts as a whole'),
    timeZone,
  })
  .refine(({ from, to }) => isSaleRange(from, to), {
    path: ['to'],
    message: `Choose at most ${limits.salesDaysMax} days, the first one before the last`,
  })

const amount = z.int().describe('in the currency’s smallest unit')

/** What was sold in one currency. */
const figures = z.strictObject({
  orders: z.int().describe('orders that were paid for the first time'),
  renewals: z.int().describe('further payments of orders'),
  revenue: amount.describe('of both, gross as charged; a refund does not lower it'),
  newRevenue: amount,
  renewedRevenue: amount,
  unpriced: z.int().describe('payments whose amount the shop did not tell, which count as 0'),
  refunds: z.int(),
  refunded: amount.describe('what was given back, on the day on which it was'),
  disputes: z.int(),
  disputed: amount.describe('the payments that were disputed, on the day on which the dispute began'),
  disputesWon: z.int(),
  recovered: amount.describe('the payments whose dispute was won, on that day'),
  trials: z.int().describe('orders whose license an end user with a trial redeemed, on that day'),
})

const currency = z.string().nullable().describe('in capital letters; null if the shop names none')
const one = { currency, ...figures.shape }

const tag = 'Shops and orders'

export const sales = {
  get: endpoint({
    method: 'GET',
    path: '/sales',
    access: 'owner',
    permission: 'sales:read',
    tag,
    summary: `Get what orders took and gave back, without test orders, by currency, product, shop and day; at most ${limits.salesDaysMax} days`,
    query,
    data: z.strictObject({
      currencies: z.array(z.strictObject(one)),
      products: z
        .array(
          z.strictObject({
            product: z.string().nullable().describe('null for orders of several products, or of none'),
            ...one,
          }),
        )
        .max(limits.saleGroupsMax)
        .describe('the largest ones'),
      shops: z
        .array(
          z.strictObject({
            shop: z.strictObject({
              _id: z.string(),
              name: z.string(),
              kind: z.enum(shopKinds),
              deleted: z.boolean(),
            }),
            ...one,
          }),
        )
        .max(limits.saleGroupsMax)
        .describe('the largest ones'),
      days: z
        .array(z.strictObject({ date: z.iso.date(), currencies: z.array(z.strictObject(one)) }))
        .describe('each day, also one without anything'),
      renewalsDue: z.strictObject({
        from: isoTime,
        until: isoTime,
        currencies: z.array(
          z.strictObject({
            currency,
            orders: z.int(),
            amount: amount.describe('if each of them pays what it paid last'),
          }),
        ),
      }),
      counting: z.boolean().describe('whether orders from before an update are still being counted'),
    }),
  }),
  export: endpoint({
    method: 'GET',
    path: '/sales/export',
    access: 'owner',
    permission: 'sales:read',
    tag,
    summary: 'Export what orders took and gave back as CSV: a line for each day, currency, shop and product',
    query,
    data: none,
    file: ['text/csv'],
  }),
}

export type SaleFigures = z.output<typeof figures>
export type Sales = z.output<typeof sales.get.data>
export type SaleKind = (typeof saleKinds)[number]
