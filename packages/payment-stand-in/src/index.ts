export { checkoutScript } from './checkout.ts'
export type { Dispute } from './disputes.ts'
export type { ErrorBody } from './errors.ts'
export type { Fault, FaultMode, FaultRule } from './faults.ts'
export type { Order } from './orders.ts'
export type { Attempt, Failure, Payment, PaymentMethod } from './payments.ts'
export type { Refund } from './refunds.ts'
export type { Call } from './server.ts'
export { type Checkout, PaymentStandIn, type StandInOptions, startPaymentStandIn } from './stand-in.ts'
export type {
  AutoDelivery,
  DeliverAllOptions,
  Delivery,
  Disguise,
  EventName,
  WebhookEvent,
} from './webhooks.ts'
