import { createHmac, timingSafeEqual } from 'node:crypto'

/** Hexadecimal HMAC-SHA256: https://razorpay.com/docs/webhooks/validate-test */
export function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}

/**
 * The checkout's proof of a payment, signed with the key secret:
 * https://razorpay.com/docs/payments/payment-gateway/web-integration/standard/integration-steps
 */
export function signCheckout(keySecret: string, orderId: string, paymentId: string): string {
  return sign(keySecret, `${orderId}|${paymentId}`)
}

/** Whether an `authorization` header holds these keys as HTTP basic authentication. */
export function isAuthorized(header: string | undefined, keyId: string, keySecret: string): boolean {
  const wanted = Buffer.from(`Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`)
  const sent = Buffer.from(header ?? '')
  return sent.length === wanted.length && timingSafeEqual(sent, wanted)
}
