import type { Order, Payment } from './entities.ts'
import { checkFields, refuse, refuseId } from './errors.ts'
import { makeId } from './ids.ts'
import { type Collection, type Ledger, toCollection } from './ledger.ts'
import { toNotes } from './notes.ts'

// https://razorpay.com/docs/payments/international-payments/#supported-currencies, except those with three decimals
const currencies = new Set(
  (
    'AED ALL AMD ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BZD CAD CHF CNY COP CRC CUP CVE CZK ' +
    'DKK DOP DZD EGP ETB EUR FJD GBP GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR JMD KES KGS KHR KYD KZT ' +
    'LAK LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PEN PGK PHP PKR ' +
    'PLN QAR RON RUB SAR SCR SEK SGD SLL SOS SSP SVC SZL THB TRY TTD TWD TZS UAH USD UYU UZS XCD YER ZAR ZMW'
  ).split(' '),
)

/** `POST /v1/orders`: https://razorpay.com/docs/api/orders/create and its error index. */
export function createOrder(ledger: Ledger, body: Record<string, unknown>): Order {
  const { amount, currency, receipt = null } = body
  checkFields(
    body,
    'amount currency receipt notes partial_payment first_payment_min_amount payment_capture payment unique_receipt',
  )
  checkAmount(amount)
  if (currency === undefined) throw refuse('currency: is required.', { field: 'currency' })
  if (typeof currency !== 'string') throw refuse(`expected string but provided ${typeof currency}`)
  if (!currencies.has(currency)) throw refuse('Currency is not supported', { field: 'currency' })
  if (amount < 1) throw refuse(`The amount must be at least ${currency} 1.00`, { field: 'amount' })
  if (amount < 100)
    throw refuse('Order amount less than minimum amount allowed', {
      step: 'order_creation',
      reason: 'amount_less_than_minimum_amount',
      field: 'amount',
    })
  if (receipt !== null && typeof receipt !== 'string')
    throw refuse('The receipt must be a string.', { field: 'receipt' })
  if (receipt !== null && receipt.length > 40)
    throw refuse('The receipt may not be greater than 40 characters.', { field: 'receipt' })
  // https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s/best-practices/retries-and-idempotency
  const twin = receipt === null ? undefined : listOrders(ledger, { receipt }).items[0]
  if (twin && body.unique_receipt === true && twin.amount === amount && twin.currency === currency)
    return twin
  if (twin && (body.unique_receipt === true || ledger.uniqueReceipts))
    throw refuse('Order receipt should be unique.', { field: 'receipt' })
  const order: Order = {
    id: makeId('order'),
    entity: 'order',
    amount,
    amount_paid: 0,
    amount_due: amount,
    currency,
    receipt,
    offer_id: null,
    status: 'created',
    attempts: 0,
    notes: toNotes(body.notes),
    created_at: ledger.now(),
  }
  ledger.orders.set(order.id, order)
  return order
}

/** Amounts are whole numbers of the currency's smallest unit. */
export function checkAmount(amount: unknown): asserts amount is number {
  if (amount === undefined) throw refuse('amount: is required.', { field: 'amount' })
  if (!Number.isSafeInteger(amount)) throw refuse('The amount must be an integer.', { field: 'amount' })
}

export function getOrder(ledger: Ledger, id: string): Order {
  const order = ledger.orders.get(id)
  if (!order) throw refuseId(id)
  return order
}

/** `GET /v1/orders`, newest first: https://razorpay.com/docs/api/orders/fetch-all */
export function listOrders(
  ledger: Ledger,
  { receipt, count = 10, skip = 0 }: { receipt?: string | null; count?: number; skip?: number },
): Collection<Order> {
  const found = [...ledger.orders.values()]
    .reverse()
    .filter((order) => receipt === undefined || receipt === null || order.receipt === receipt)
  return toCollection(found.slice(skip, skip + Math.min(count, 100)))
}

/** `GET /v1/orders/:id/payments`, newest first: https://razorpay.com/docs/api/orders/fetch-payments */
export function listOrderPayments(ledger: Ledger, id: string): Collection<Payment> {
  getOrder(ledger, id)
  return toCollection([...ledger.payments.values()].reverse().filter((payment) => payment.order_id === id))
}
