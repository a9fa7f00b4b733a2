/** What the provider knows of a payment; amounts in the currency's smallest unit. */
export interface ProviderPayment {
  id: string
  /** The provider's id of the order; null for payments that are not of an order. */
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

/** What an event says has changed; only that it is so is believed, what is so is asked. */
export interface ProviderEvent {
  paymentId: string | undefined
  orderId: string | undefined
  disputeId: string | undefined
}

/**
 * Whoever takes the money. Every call but the two checks of signatures throws a ProviderError when it cannot be done;
 * none is made inside a transaction.
 */
export interface PaymentProvider {
  name: 'razorpay' | 'mock'
  /** The public key that the checkout is opened with. */
  keyId: string
  createOrder(order: { amount: number; currency: string; receipt: string }): Promise<string>
  /** The id of the order with this receipt, for a creation whose answer was lost. */
  findOrder(receipt: string): Promise<string | undefined>
  /** Whether the checkout's report was signed by the provider. */
  isGenuine(report: { orderId: string; paymentId: string; signature: string }): boolean
  /** `order` is what a payment reported for it is expected to be of. */
  findPayment(id: string, order: ExpectedOrder): Promise<ProviderPayment | undefined>
  listPayments(orderId: string): Promise<ProviderPayment[]>
  /** Takes the money of an authorized payment, which the provider else gives back after some days. */
  capture(payment: ProviderPayment): Promise<ProviderPayment>
  /** Gives all of a captured payment back that was not given back before; the same key never gives back twice. */
  refund(payment: ProviderPayment, key: string): Promise<ProviderPayment>
  findDispute(id: string): Promise<ProviderDispute | undefined>
  /** Undefined when the event was not signed by the provider. */
  readEvent(body: Buffer, signature: string): ProviderEvent | undefined
}

export interface ExpectedOrder {
  orderId: string
  amount: number
  currency: string
}

/** The provider refused (`refused`: asking again is no use), or gave no answer that can be read. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly refused: boolean

  constructor(message: string, options: { refused: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.refused = options.refused
  }
}
