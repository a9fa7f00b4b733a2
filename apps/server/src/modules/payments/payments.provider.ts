import { randomBytes } from 'node:crypto'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'

/** Timeouts for the payment provider. */
export interface ProviderWaits {
  /** How long we wait for its response to a call. */
  callMs: number
  /** How long our response to its event may take: it waits five seconds and resends unanswered events. */
  eventMs: number
}

export const usualWaits: ProviderWaits = { callMs: 4000, eventMs: 4500 }

/** Dependencies of every step of the payment path. */
export interface Payments {
  ctx: Ctx
  waits: ProviderWaits
  /** Undefined while payments are off. */
  provider: PaymentProvider | undefined
  /** Logs what the provider rejected or did not answer. */
  onError: (error: unknown) => void
}

export function requireProvider({ provider }: Payments): PaymentProvider {
  if (!provider) throw problem('payments_off')
  return provider
}

/** Converts a provider's failure to a problem for the caller and logs the cause. */
export async function unlessUnavailable<T>(
  { onError }: Payments,
  work: () => Promise<T>,
  message?: string,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    onError(error)
    throw problem('payment_provider_unavailable', message === undefined ? {} : { message })
  }
}

/** A payment as the provider reports it; amounts in the currency's smallest unit. */
export interface ProviderPayment {
  id: string
  /** The provider's id of the order; null for payments without an order. */
  orderId: string | null
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed'
  amount: number
  currency: string
  amountRefunded: number
  method: string | null
  /** Why it failed, in the provider's words. */
  failure: string | null
}

export interface ProviderDispute {
  id: string
  paymentId: string
  status: 'open' | 'won' | 'lost'
}

/** A hint only: fetch the current state from the provider. */
export interface ProviderEvent {
  paymentId: string | undefined
  orderId: string | undefined
  disputeId: string | undefined
}

/**
 * A payment provider. Every call except the two signature checks throws a ProviderError when it fails; none is made
 * inside a transaction.
 */
export interface PaymentProvider {
  name: 'razorpay' | 'mock'
  /** The public key that the checkout is opened with. */
  keyId: string
  createOrder(order: { amount: number; currency: string; receipt: string }): Promise<string>
  /** Finds an order by its receipt after its creation got no answer. */
  findOrder(receipt: string): Promise<string | undefined>
  /** Whether the checkout's report was signed by the provider. */
  isGenuine(report: { orderId: string; paymentId: string; signature: string }): boolean
  /** `order` is what the payment is expected to pay. */
  findPayment(id: string, order: ExpectedOrder): Promise<ProviderPayment | undefined>
  listPayments(orderId: string): Promise<ProviderPayment[]>
  /** Captures an authorized payment; the provider refunds what is not captured within days. */
  capture(payment: ProviderPayment): Promise<ProviderPayment>
  /** Refunds what is left of a captured payment; the same key never refunds twice. */
  refund(payment: ProviderPayment, key: string): Promise<ProviderPayment>
  findDispute(id: string): Promise<ProviderDispute | undefined>
  /** Undefined when the event was not signed by the provider. */
  readEvent(body: Buffer, signature: string): ProviderEvent | undefined
}

interface ExpectedOrder {
  orderId: string
  amount: number
  currency: string
}

/** The provider rejected the call (`refused`: do not retry), or gave no readable answer. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly refused: boolean

  constructor(message: string, options: { refused: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.refused = options.refused
  }
}

/** Prefix of the ids of simulated orders. */
const mockOrderPrefix = 'order_mock_'

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
