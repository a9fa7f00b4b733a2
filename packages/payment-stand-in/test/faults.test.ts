import { Script } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { type Checkout, checkoutScript } from '../src/index.ts'
import { keys, start } from './stand-in.ts'

const inr = { amount: 49900, currency: 'INR' }

describe('faults', () => {
  test('returns an error the given number of times and does nothing', async () => {
    const { provider, call } = await start()
    const fault = provider.fail({
      method: 'POST',
      path: /^\/v1\/orders$/,
      times: 2,
      mode: 'status',
      status: 503,
    })
    expect((await call('GET', '/v1/orders')).status).toBe(200)
    for (let count = 0; count < 2; count += 1) {
      const { status, json } = await call('POST', '/v1/orders', inr)
      expect([status, json.error.code]).toEqual([503, 'SERVER_ERROR'])
    }
    expect(provider.orders()).toEqual([])
    expect((await call('POST', '/v1/orders', inr)).status).toBe(200)
    expect(fault.hits).toBe(2)
    expect(provider.calls.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'GET 200',
      'POST 503',
      'POST 503',
      'POST 200',
    ])
  })

  test.each([
    [500, 'SERVER_ERROR'],
    [504, 'GATEWAY_ERROR'],
    [429, 'BAD_REQUEST_ERROR'],
  ])('%d has the code %s', async (status, code) => {
    const { provider, call } = await start()
    provider.fail({ mode: 'status', status })
    expect(await call('GET', '/v1/orders')).toMatchObject({ status, json: { error: { code } } })
  })

  test("can return a proxy's error page", async () => {
    const { provider } = await start()
    provider.fail({ mode: 'status', status: 502, body: '<h1>Bad Gateway</h1>' })
    const response = await fetch(`${provider.url}/v1/orders`)
    expect([response.status, await response.text()]).toEqual([502, '<h1>Bad Gateway</h1>'])
  })

  test('a hanging call does nothing until the caller aborts it', async () => {
    const { provider, call } = await start()
    const fault = provider.fail({ mode: 'hang' })
    const caller = new AbortController()
    const made = call('POST', '/v1/orders', inr, { signal: caller.signal })
    await expect.poll(() => fault.hits).toBe(1)
    caller.abort()
    await expect(made).rejects.toMatchObject({ name: 'AbortError' })
    expect(provider.orders()).toEqual([])
    expect(provider.calls).toMatchObject([{ status: 0, fault: 'hang' }])
  })

  test('a hanging call continues when released', async () => {
    const { provider, call } = await start()
    const fault = provider.fail({ mode: 'hang' })
    const made = call('POST', '/v1/orders', inr)
    await expect.poll(() => fault.hits).toBe(1)
    expect(provider.orders()).toEqual([])
    fault.release()
    expect((await made).status).toBe(200)
  })

  test('a reset connection does nothing', async () => {
    const { provider, call } = await start()
    provider.fail({ mode: 'reset' })
    await expect(call('POST', '/v1/orders', inr)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(provider.orders()).toEqual([])
  })

  test('a lost response keeps the work, and the same key then returns it', async () => {
    const { provider, call, order } = await start()
    const { razorpay_payment_id: id } = provider.pay(order().id)
    const refund = () =>
      call('POST', `/v1/payments/${id}/refund`, {}, { headers: { 'x-refund-idempotency': 'refund-0001' } })
    provider.fail({ path: /refund$/, mode: 'lost-answer' })
    await expect(refund()).rejects.toThrow('fetch failed')
    expect(provider.refunds(id)).toHaveLength(1)
    expect(provider.calls.at(-1)).toMatchObject({ status: 200, fault: 'lost-answer' })
    const again = await refund()
    expect(again.json.id).toBe(provider.refunds(id)[0]!.id)
    expect(provider.refunds(id)).toHaveLength(1)
  })

  test('clears all faults at once', async () => {
    const { provider, call } = await start()
    provider.fail({ mode: 'status', times: 100 })
    provider.clearFaults()
    expect((await call('GET', '/v1/orders')).status).toBe(200)
  })
})

describe('the checkout', () => {
  test('serves a script that pays at the given address', async () => {
    const { provider } = await start()
    const response = await fetch(`${provider.url}/v1/checkout.js`)
    expect(response.headers.get('content-type')).toContain('text/javascript')
    expect(await response.text()).toBe(checkoutScript(provider.url))
    const text = checkoutScript('https://api.razorpay.com')
    expect(text).toContain('const baseUrl = "https://api.razorpay.com"')
    expect(() => new Script(text)).not.toThrow()
  })

  test('pays from any page and returns what the handler receives', async () => {
    const { provider, order } = await start()
    const { id } = order()
    const pay = (body: object) =>
      fetch(`${provider.url}/control/pay`, { method: 'POST', body: JSON.stringify(body) })
    const failed = await pay({ key: keys.keyId, order_id: id, status: 'failed' })
    expect(await failed.json()).toMatchObject({
      error: {
        reason: 'payment_failed',
        metadata: { order_id: id, payment_id: provider.payments(id)[0]!.id },
      },
    })
    const paid = await pay({ key: keys.keyId, order_id: id })
    expect(paid.headers.get('access-control-allow-origin')).toBe('*')
    const answer = (await paid.json()) as Checkout
    expect(answer).toEqual({
      razorpay_order_id: id,
      razorpay_payment_id: provider.payments(id)[1]!.id,
      razorpay_signature: provider.checkoutSignature(id, answer.razorpay_payment_id),
    })
    expect((await pay({ key: keys.keyId, order_id: id })).status).toBe(400)
    expect((await pay({ key: 'rzp_test_other', order_id: id })).status).toBe(401)
    const preflight = await fetch(`${provider.url}/control/pay`, { method: 'OPTIONS' })
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type')
    expect(provider.calls).toEqual([])
  })
})
