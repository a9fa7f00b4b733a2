import { randomBytes } from 'node:crypto'
import type { PaymentProvider } from './payments.provider.ts'

/** Prefix of the ids of simulated orders. */
export const mockOrderPrefix = 'order_mock_'

/** Simulates payments on a development instance: every reported payment is one, and no money moves. */
export const mockProvider: PaymentProvider = {
  name: 'mock',
  keyId: 'rzp_mock',
  createOrder: async () => `${mockOrderPrefix}${randomBytes(8).toString('hex')}`,
  findOrder: async () => undefined,
  isGenuine: ({ paymentId, signature }) => paymentId !== '' && signature !== '',
  findPayment: async (id, { orderId, amount, currency }) => ({
    id,
    orderId,
    status: 'captured',
    amount,
    currency,
    amountRefunded: 0,
    method: null,
    failure: null,
  }),
  listPayments: async () => [],
  capture: async (payment) => payment,
  refund: async (payment) => ({ ...payment, status: 'refunded', amountRefunded: payment.amount }),
  findDispute: async () => undefined,
  readEvent: () => undefined,
}
