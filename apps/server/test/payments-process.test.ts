import { rmSync } from 'node:fs'
import { type PaymentStandIn, startPaymentStandIn } from '@keyward/payment-stand-in'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDataDir } from './migrated.ts'
import { rounds } from './rounds.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const keys = {
  keyId: 'rzp_test_process',
  keySecret: 'the-key-secret-of-this-test',
  webhookSecret: 'the-webhook-secret-of-this-test',
}
let dataDir: string
let provider: PaymentStandIn
let server: ServerProcess
let token: string
beforeEach(async () => {
  dataDir = await makeDataDir('keyward-payments-')
  provider = await startPaymentStandIn(keys)
  await start()
  const body = { name: 'V', email: 'vendor@example.com', password: 'correct-horse-battery' }
  token = (await call('POST', '/auth/register', body)).json.data.token
})
afterEach(async () => {
  await server.end('SIGKILL')
  await provider.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function start() {
  server = await startProcess({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
    PAYMENTS: 'razorpay',
    RAZORPAY_KEY_ID: keys.keyId,
    RAZORPAY_KEY_SECRET: keys.keySecret,
    RAZORPAY_WEBHOOK_SECRET: keys.webhookSecret,
    RAZORPAY_API_URL: provider.url,
  })
  provider.setWebhookUrl(`${server.url}/api/payments/razorpay/webhook`)
}

const call = (method: string, path: string, body?: object) =>
  callOver(server.url, method, path, { ...(token ? { token } : {}), ...(body ? { body } : {}) })
const order = async () => (await call('POST', '/payments/razorpay/create-order', {})).json.data
const plan = async () => (await call('GET', '/subscription')).json.data.subscription.plan

test('a server killed during verification activates premium once after its restart', async () => {
  for (let round = 0; round < rounds(1, 10); round += 1) {
    const checkout = provider.pay((await order()).orderId, { status: 'authorized' })
    // The provider captures the money, but its response does not arrive.
    const late = provider.fail({ path: /\/capture$/, mode: 'late-answer' })
    const verified = call('POST', '/payments/razorpay/verify', checkout).catch(() => undefined)
    await expect.poll(() => late.hits).toBe(1)
    await server.end('SIGKILL')
    late.release()
    await verified
    await start()
    await expect.poll(plan).toBe('premium')
    await provider.deliverAll({ duplicates: 1 })
    const { payments } = (await call('GET', '/payments/history')).json.data
    expect(payments).toHaveLength(round + 1)
    const [{ expiryDate }, [newest]] = [(await call('GET', '/subscription')).json.data.subscription, payments]
    expect(expiryDate).toBe(newest.periodEnd)
  }
})

test('never logs or returns a secret of the provider, on any failure', async () => {
  const answers = []
  const pay = async () => provider.pay((await order()).orderId)
  for (const mode of ['status', 'reset', 'lost-answer'] as const) {
    provider.fail({ mode })
    answers.push(await call('POST', '/payments/razorpay/create-order', { planDuration: 'yearly' }))
  }
  const checkout = await pay()
  provider.fail({ mode: 'status', status: 401, times: 5 })
  answers.push(await call('POST', '/payments/razorpay/verify', checkout))
  provider.clearFaults()
  answers.push(
    await call('POST', '/payments/razorpay/verify', { ...checkout, razorpay_signature: 'f'.repeat(64) }),
  )
  const [event] = provider.events
  if (event) await provider.deliver(event, { signature: 'e'.repeat(64) })
  answers.push(await call('POST', '/payments/razorpay/verify', checkout))
  expect(answers.map(({ status }) => status)).toEqual([502, 502, 502, 502, 400, 200])
  await expect.poll(server.output).toContain('was refused with 401')
  const output = server.output() + JSON.stringify(answers)
  const basic = Buffer.from(`${keys.keyId}:${keys.keySecret}`).toString('base64')
  const leaked = [keys.keySecret, keys.webhookSecret, basic, checkout.razorpay_signature].filter((secret) =>
    output.includes(secret),
  )
  expect(leaked).toEqual([])
})
