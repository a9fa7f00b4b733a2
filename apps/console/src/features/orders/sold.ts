import { type endpoints, limits, type QueryInputOf, saleKinds } from '@keyward/contract'
import { formatDate } from '../../lib/format/dates.ts'
import { toDay } from '../../lib/list/url-values.ts'

type Query = QueryInputOf<typeof endpoints.orders.list>
type Sale = Pick<Query, 'sale' | 'from' | 'to' | 'timeZone' | 'currency' | 'product'>

/** The filters that the page Sales links to, as far as the address says what the server takes. */
export function toSale(url: Record<keyof Sale, string | undefined>): Sale {
  const sale = saleKinds.find((kind) => kind === url.sale)
  const [from, to] = [toDay(url.from), toDay(url.to)]
  const timeZone = url.timeZone && isTimeZone(url.timeZone) ? url.timeZone : undefined
  const { currency, product } = url
  return {
    ...(sale && { sale }),
    ...(from && { from }),
    ...(to && { to }),
    ...((from || to) && timeZone && { timeZone }),
    ...(currency !== undefined && currency.length <= 10 && { currency }),
    ...(product !== undefined && product.length <= limits.shopTextMax && { product }),
  }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }))
  } catch {
    return false
  }
}

const words: Readonly<Record<(typeof saleKinds)[number], string>> = {
  new: 'New orders',
  renewed: 'Renewals',
  refunded: 'Refunds',
  disputed: 'Disputes',
  dispute_won: 'Disputes that were won',
  trial: 'Orders of trials',
  due: 'Renewals due',
}

/** What these filters find: 'Refunds of Mar 01, 2026 – Mar 31, 2026 in EUR'; undefined without any. */
export function wordsOf({ sale, from, to, currency, product }: Sale): string | undefined {
  const days = [...new Set([from, to])].flatMap((day) => (day ? [formatDate(`${day}T23:59:59.999Z`)] : []))
  const parts = [
    sale && words[sale],
    days.length > 0 && `${sale ? 'of' : 'Orders of'} ${days.join(' – ')}`,
    product !== undefined && (product || 'several products'),
    currency && `in ${currency}`,
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(' ') : undefined
}
