import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeDispute, getDispute, openDispute } from './disputes.ts'
import type { Dispute, Order, Payment, Refund } from './entities.ts'
import { type Fault, type FaultRule, Faults } from './faults.ts'
import { makeId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import { createOrder, getOrder } from './orders.ts'
import { type Attempt, attemptPayment, authorizeLate, capturePayment, getPayment } from './payments.ts'
import { createRefund, finishRefund, getRefund, refundUncaptured } from './refunds.ts'
import { type Call, createHandler } from './server.ts'
import { sign, signCheckout } from './signatures.ts'
import {
  type AutoDelivery,
  type DeliverAllOptions,
  type Delivery,
  type Disguise,
  type WebhookEvent,
  Webhooks,
} from './webhooks.ts'

export interface StandInOptions {
  keyId: string
  keySecret: string
  webhookSecret: string
  webhookUrl?: string
  /** Default: a free port. */
  port?: number
  /** Delivers events as they happen; otherwise they wait for `deliver`. */
  autoWebhooks?: boolean | AutoDelivery
  /** Timeout of a delivery; default 5 seconds, like the provider. */
  webhookTimeoutMs?: number
  /** Initial status of refunds; default `processed`. Pending ones wait for `processRefund` or `failRefund`. */
  refunds?: 'pending' | 'processed'
  /** Rejects a second order with the same receipt, as some accounts are configured to. */
  uniqueReceipts?: boolean
  /** Unix milliseconds. */
  now?: () => number
}

/** What the checkout passes to the page after a payment; the signature is empty if the payment failed. */
export interface Checkout {
  razorpay_payment_id: string
  razorpay_order_id: string
  razorpay_signature: string
}

/** A payment provider on loopback that implements Razorpay's API and can be controlled by tests. */
export class PaymentStandIn {
  readonly accountId = makeId('acc')
  /** Every call of the API, oldest first. */
  readonly calls: Call[] = []
  readonly #options: StandInOptions
  readonly #ledger: Ledger
  readonly #webhooks: Webhooks
  readonly #faults = new Faults()
  readonly #server: Server

  constructor(options: StandInOptions) {
    const { keyId, keySecret, webhookSecret, webhookTimeoutMs: timeoutMs = 5000, now = Date.now } = options
    this.#options = options
    this.#webhooks = new Webhooks({ secret: webhookSecret, accountId: this.accountId, timeoutMs })
    this.#webhooks.url = options.webhookUrl
    this.setAutoWebhooks(options.autoWebhooks ?? false)
    const seconds = () => Math.floor(now() / 1000)
    this.#ledger = {
      orders: new Map(),
      payments: new Map(),
      refunds: new Map(),
      disputes: new Map(),
      refundKeys: new Map(),
      uniqueReceipts: options.uniqueReceipts ?? false,
      refundsStart: options.refunds ?? 'processed',
      now: seconds,
      emit: (name, subjects) => this.#webhooks.emit(name, subjects, seconds()),
    }
    const handle = createHandler({
      keyId,
      keySecret,
      ledger: this.#ledger,
      faults: this.#faults,
      calls: this.calls,
      baseUrl: () => this.url,
      pay: (orderId, attempt) => this.#payInWindow(orderId, attempt),
    })
    this.#server = createServer((request, response) => void handle(request, response))
  }

  async listen(): Promise<this> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(this.#options.port ?? 0, '127.0.0.1', resolve)
    await promise
    return this
  }

  /** URL of the API, without a trailing slash. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Every event so far, oldest first, delivered or not. */
  get events(): WebhookEvent[] {
    return this.#webhooks.events
  }

  setWebhookUrl(url: string | undefined): void {
    this.#webhooks.url = url
  }

  setAutoWebhooks(auto: boolean | AutoDelivery): void {
    this.#webhooks.auto = auto === true ? {} : auto || undefined
  }

  /** Sets the initial status of later refunds. */
  setRefunds(start: 'pending' | 'processed'): void {
    this.#ledger.refundsStart = start
  }

  /** Creates an order that the merchant's server does not know. */
  createOrder(body: {
    amount: number
    currency: string
    receipt?: string
    notes?: Record<string, string>
  }): Order {
    return structuredClone(createOrder(this.#ledger, body))
  }

  /** Pays as a customer in the checkout. */
  pay(orderId: string, attempt: Attempt = {}): Checkout {
    return this.#toCheckout(attemptPayment(this.#ledger, orderId, attempt))
  }

  /** Lets a failed payment succeed, even on an order that has been paid meanwhile. */
  authorizeLater(
    paymentId: string,
    { status = 'captured' }: { status?: 'authorized' | 'captured' } = {},
  ): Checkout {
    return this.#toCheckout(authorizeLate(this.#ledger, paymentId, status))
  }

  /** Captures an authorized payment, as from the provider's dashboard. */
  capture(paymentId: string): Payment {
    const { amount, currency } = getPayment(this.#ledger, paymentId)
    return structuredClone(capturePayment(this.#ledger, paymentId, { amount, currency }))
  }

  /** Refunds a captured payment, as from the provider's dashboard. */
  refund(paymentId: string, amount?: number): Refund {
    return structuredClone(createRefund(this.#ledger, paymentId, amount === undefined ? {} : { amount }))
  }

  /** Refunds an authorized payment that was not captured in time, as the provider does. */
  refundUncaptured(paymentId: string): Refund {
    return structuredClone(refundUncaptured(this.#ledger, paymentId))
  }

  processRefund(refundId: string): Refund {
    return structuredClone(finishRefund(this.#ledger, refundId, 'processed'))
  }

  failRefund(refundId: string): Refund {
    return structuredClone(finishRefund(this.#ledger, refundId, 'failed'))
  }

  dispute(paymentId: string, asked: Parameters<typeof openDispute>[2] = {}): Dispute {
    return structuredClone(openDispute(this.#ledger, paymentId, asked))
  }

  closeDispute(disputeId: string, outcome: 'won' | 'lost'): Dispute {
    return structuredClone(closeDispute(this.#ledger, disputeId, outcome))
  }

  order(id: string): Order {
    return structuredClone(getOrder(this.#ledger, id))
  }

  payment(id: string): Payment {
    return structuredClone(getPayment(this.#ledger, id))
  }

  findDispute(id: string): Dispute {
    return structuredClone(getDispute(this.#ledger, id))
  }

  findRefund(id: string): Refund {
    return structuredClone(getRefund(this.#ledger, id))
  }

  orders(): Order[] {
    return structuredClone([...this.#ledger.orders.values()])
  }

  /** All payments, or those of an order. */
  payments(orderId?: string): Payment[] {
    const all = [...this.#ledger.payments.values()]
    return structuredClone(all.filter((payment) => orderId === undefined || payment.order_id === orderId))
  }

  /** All refunds, or those of a payment. */
  refunds(paymentId?: string): Refund[] {
    const all = [...this.#ledger.refunds.values()]
    return structuredClone(all.filter((refund) => paymentId === undefined || refund.payment_id === paymentId))
  }

  disputes(): Dispute[] {
    return structuredClone([...this.#ledger.disputes.values()])
  }

  /** Delivers one event; may be called repeatedly. `disguise` forges parts of it. */
  deliver(event: WebhookEvent, disguise: Disguise = {}): Promise<Delivery> {
    return this.#webhooks.deliver(event, disguise)
  }

  /** Delivers every event that was not yet answered with 2xx. */
  deliverAll(options: DeliverAllOptions = {}): Promise<(Delivery & { event: WebhookEvent })[]> {
    return this.#webhooks.deliverAll(options)
  }

  /** Resolves when all automatic deliveries so far have finished. */
  settled(): Promise<void> {
    return this.#webhooks.settled()
  }

  /** The webhook signature of a body. */
  sign(body: string): string {
    return sign(this.#options.webhookSecret, body)
  }

  checkoutSignature(orderId: string, paymentId: string): string {
    return signCheckout(this.#options.keySecret, orderId, paymentId)
  }

  /** Makes the next matching calls fail. */
  fail(rule: FaultRule): Fault {
    return this.#faults.add(rule)
  }

  /** Removes all faults and continues waiting calls. */
  clearFaults(): void {
    this.#faults.clear()
  }

  async close(): Promise<void> {
    this.#faults.clear()
    await this.#webhooks.close()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeAllConnections()
    await promise
  }

  #toCheckout(payment: Payment): Checkout {
    return {
      razorpay_payment_id: payment.id,
      razorpay_order_id: payment.order_id,
      razorpay_signature:
        payment.status === 'failed' ? '' : this.checkoutSignature(payment.order_id, payment.id),
    }
  }

  #payInWindow(orderId: string, attempt: Attempt) {
    const payment = attemptPayment(this.#ledger, orderId, attempt)
    if (payment.status !== 'failed') return this.#toCheckout(payment)
    return {
      error: {
        code: payment.error_code,
        description: payment.error_description,
        source: payment.error_source,
        step: payment.error_step,
        reason: payment.error_reason,
        metadata: { payment_id: payment.id, order_id: payment.order_id },
      },
    }
  }
}

/** Starts a stand-in for the payment provider on a loopback port. */
export function startPaymentStandIn(options: StandInOptions): Promise<PaymentStandIn> {
  return new PaymentStandIn(options).listen()
}
