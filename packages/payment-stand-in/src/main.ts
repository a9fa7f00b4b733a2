import { startPaymentStandIn } from './stand-in.ts'

// Runs a stand-in as its own process, to try a server by hand. Set the same keys on both.
const {
  PORT = '4000',
  RAZORPAY_KEY_ID: keyId = 'rzp_test_stand_in',
  RAZORPAY_KEY_SECRET: keySecret = 'stand-in key secret',
  RAZORPAY_WEBHOOK_SECRET: webhookSecret = 'stand-in webhook secret',
  WEBHOOK_URL: webhookUrl = 'http://127.0.0.1:3000/api/payments/razorpay/webhook',
} = process.env

const provider = await startPaymentStandIn({
  port: Number(PORT),
  keyId,
  keySecret,
  webhookSecret,
  webhookUrl,
  autoWebhooks: { retries: 3 },
})
process.stdout.write(`The payment provider’s stand-in is ready: ${provider.url}\n`)
const stop = () => provider.close().then(() => process.exit(0))
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
