import type { OrderRow } from '../../db/tables.ts'
import type { PaymentProvider, ProviderPayment } from './payments.provider.ts'
import type { Look, Sighting } from './payments.settle.ts'

/** What the provider knows under the id of a payment that is said to be of the order. */
export const findPaymentOf = (
  provider: PaymentProvider,
  { provider_order_id, amount, currency }: OrderRow,
  paymentId: string,
): Promise<ProviderPayment | undefined> =>
  provider.findPayment(paymentId, { orderId: provider_order_id ?? '', amount, currency })

/** One payment of an order; undefined when the order has none of this id. */
export async function lookAt(
  provider: PaymentProvider,
  order: OrderRow,
  paymentId: string,
): Promise<Sighting | undefined> {
  const payment = await findPaymentOf(provider, order, paymentId)
  if (!payment || payment.orderId !== (order.provider_order_id ?? '')) return undefined
  return { payment: await captured(provider, order, payment) }
}

/** All payments of an order, as the provider lists them. */
export const lookAtAll =
  (provider: PaymentProvider): Look =>
  async (order) => {
    if (order.provider_order_id === null) return []
    const sightings = []
    for (const payment of await provider.listPayments(order.provider_order_id)) {
      sightings.push({ payment: await captured(provider, order, payment) })
    }
    return sightings
  }

/** Takes the money of what is authorized and awaited; the provider would give it back after some days. */
async function captured(
  provider: PaymentProvider,
  order: OrderRow,
  payment: ProviderPayment,
): Promise<ProviderPayment> {
  const isAwaited =
    (order.status === 'open' || order.status === 'expired') &&
    payment.amount === order.amount &&
    payment.currency === order.currency
  return payment.status === 'authorized' && isAwaited ? provider.capture(payment) : payment
}
