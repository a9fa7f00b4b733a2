export { checkoutScript } from './checkout.ts'
export type { Dispute, EventName, Order, Payment, PaymentMethod, Refund } from './entities.ts'
export type { ErrorBody } from './errors.ts'
export type { Fault, FaultMode, FaultRule } from './faults.ts'
export type { Attempt, Failure } from './payments.ts'
export type { Call } from './server.ts'
export { type Checkout, PaymentStandIn, type StandInOptions, startPaymentStandIn } from './stand-in.ts'
export type {
  AutoDelivery,
  DeliverAllOptions,
  Delivery,
  Disguise,
  WebhookEvent,
} from './webhooks.ts'
