import { z } from 'zod'
import { subscription, user } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { isoTime, planDuration, price } from './shared.ts'

/** A coupon code as typed: surrounding spaces and case are ignored. */
const couponCode = z
  .string('Please enter a coupon code')
  .trim()
  .toUpperCase()
  .max(40, 'A coupon code can have at most 40 characters')
  .regex(/^[A-Z0-9_-]*$/, 'Invalid coupon code')

/** The term is `planDuration`, or `plan` and `duration`; monthly by default. */
const termFields = {
  planDuration: planDuration.optional(),
  plan: z.string().max(20).toLowerCase().pipe(z.literal('premium')).optional(),
  duration: planDuration.optional(),
  /** Blank means none. */
  couponCode: couponCode.nullish().transform((code) => code || undefined),
}
const namesOneTerm = (named: { planDuration?: string | undefined; duration?: string | undefined }) =>
  named.planDuration === undefined || named.duration === undefined || named.planDuration === named.duration
const twoTerms = { error: 'planDuration and duration must be the same term', path: ['duration'] }

const order = z.strictObject({
  orderId: z.string(),
  ...price.shape,
  keyId: z.string().describe('the public key for the checkout'),
  isDevelopmentMode: z.boolean().describe('true if the payment is simulated'),
  planDuration,
  listAmount: z.int().describe('before the coupon'),
  couponCode: z.string().nullable(),
  discount: z.int().describe('percent'),
  expiresAt: isoTime.describe('until then the order is reused and its coupon reserved'),
})

const paymentStatus = z.enum([
  'paid',
  'pending',
  'failed',
  'refunding',
  'refunded',
  'partially_refunded',
  'charged_back',
])

const payment = z.strictObject({
  _id: z.string(),
  orderId: z.string(),
  paymentId: z.string(),
  receipt: z.string().describe('receipt number of the order at the provider'),
  status: paymentStatus,
  planDuration,
  ...price.shape,
  listAmount: z.int().describe('before the coupon'),
  listFormatted: z.string(),
  couponCode: z.string().nullable(),
  discount: z.int().describe('percent'),
  amountRefunded: z.int(),
  refundedFormatted: z.string(),
  method: z.string().nullable().describe('card, upi, netbanking, …'),
  note: z.string().nullable().describe('why it failed or is refunded'),
  periodStart: isoTime.nullable(),
  periodEnd: isoTime.nullable(),
  createdAt: isoTime,
  isDevelopmentMode: z.boolean(),
})

const checkoutField = z.string().trim().min(1).max(200)
const tag = 'Payments'

export const payments = {
  createOrder: endpoint({
    method: 'POST',
    path: '/payments/razorpay/create-order',
    access: 'owner',
    permission: 'billing:write',
    unbudgeted: 'payment',
    allApps: true,
    tag,
    summary: 'Order a term of the premium plan; returns the open order of the same plan and coupon, if any',
    body: z.strictObject(termFields).refine(namesOneTerm, twoTerms),
    data: order,
    errors: ['invalid_coupon', 'conflict', 'rate_limited', 'payment_provider_unavailable', 'payments_off'],
  }),
  verify: endpoint({
    method: 'POST',
    path: '/payments/razorpay/verify',
    access: 'owner',
    permission: 'billing:write',
    unbudgeted: 'payment',
    allApps: true,
    tag,
    summary: 'Report a payment of the checkout; the stored order decides what was bought, not this request',
    body: z
      .strictObject({
        razorpay_order_id: checkoutField.optional(),
        razorpay_payment_id: checkoutField.optional(),
        razorpay_signature: checkoutField.optional(),
        razorpayOrderId: checkoutField.optional(),
        razorpayPaymentId: checkoutField.optional(),
        razorpaySignature: checkoutField.optional(),
        ...termFields,
      })
      .transform((body) => ({
        orderId: body.razorpay_order_id ?? body.razorpayOrderId ?? '',
        paymentId: body.razorpay_payment_id ?? body.razorpayPaymentId ?? '',
        signature: body.razorpay_signature ?? body.razorpaySignature ?? '',
      }))
      .superRefine((body, context) => {
        const names = { orderId: 'order_id', paymentId: 'payment_id', signature: 'signature' } as const
        for (const key of ['orderId', 'paymentId', 'signature'] as const) {
          if (body[key] !== '') continue
          const path = `razorpay_${names[key]}`
          context.addIssue({ code: 'custom', path: [path], message: `${path} is required` })
        }
      }),
    data: z.strictObject({ subscription, payment }),
    errors: [
      'not_found',
      'payment_not_verified',
      'payment_pending',
      'payment_returned',
      'payment_provider_unavailable',
      'payments_off',
    ],
  }),
  webhook: endpoint({
    method: 'POST',
    path: '/payments/razorpay/webhook',
    access: 'public',
    tag,
    summary: 'Receive events of the payment provider, signed with the webhook secret',
    bodyLimit: 131_072,
    raw: true,
    data: z.strictObject({}),
    errors: ['invalid_signature', 'payment_provider_unavailable', 'payments_off'],
  }),
  history: endpoint({
    method: 'GET',
    path: '/payments/history',
    access: 'owner',
    permission: 'billing:read',
    allApps: true,
    tag,
    summary: 'List your payments, newest first',
    data: z.strictObject({ payments: z.array(payment) }),
  }),
  validateCoupon: endpoint({
    method: 'POST',
    path: '/payments/validate-coupon',
    access: 'owner',
    permission: 'billing:write',
    unbudgeted: 'payment',
    allApps: true,
    tag,
    summary: 'Check a coupon and get the price of each term with it',
    body: z.strictObject({
      couponCode: couponCode.min(1, 'Please enter a coupon code'),
    }),
    data: z.strictObject({
      couponCode: z.string(),
      discount: z.int().describe('percent'),
      totals: z.strictObject({ monthly: price, yearly: price }),
    }),
    errors: ['invalid_coupon', 'rate_limited'],
  }),
  cancelSubscription: endpoint({
    method: 'POST',
    path: '/payments/cancel-subscription',
    access: 'owner',
    permission: 'billing:write',
    unbudgeted: 'payment',
    allApps: true,
    tag,
    summary: 'Cancel premium: it stays until its end, or ends now with a refund while that is offered',
    body: z.strictObject({ refund: z.boolean().default(false) }),
    data: z.strictObject({
      user,
      refund: z
        .strictObject({ ...price.shape, done: z.boolean() })
        .nullable()
        .describe('the refund; until `done`, the server keeps retrying'),
    }),
    errors: ['conflict'],
  }),
}

export type Order = z.output<typeof order>
export type Payment = z.output<typeof payment>
export type PaymentStatus = z.output<typeof paymentStatus>
