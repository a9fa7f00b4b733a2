import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { type PaymentStandIn, type StandInOptions, startPaymentStandIn } from '../src/index.ts'

export const keys = {
  keyId: 'rzp_test_1DP5mmOlF5G5ag',
  keySecret: 'EnLs21M47BllR3X8PSFtjtbd',
  webhookSecret: 'a webhook secret of tests',
}

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the tests read of them
  json: any
}

/** Starts a stand-in that closes after the test; `call` sends an authenticated API request. */
export async function start(options: Partial<StandInOptions> = {}) {
  const provider = await startPaymentStandIn({ ...keys, ...options })
  closers.push(() => provider.close())
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Answer> => {
    const response = await fetch(`${provider.url}${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${keys.keyId}:${keys.keySecret}`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    return { status: response.status, json: await response.json() }
  }
  return { provider, call, order: (amount = 49900) => makeOrder(provider, amount) }
}

function makeOrder(provider: PaymentStandIn, amount: number) {
  return provider.createOrder({ amount, currency: 'INR', receipt: 'receipt 1' })
}

/** Starts a server that stores the webhooks it receives. */
export async function listen(answer: (count: number) => number = () => 200) {
  const received: { headers: Record<string, unknown>; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      response.writeHead(answer(received.length)).end('{"ok":true}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  return {
    received,
    names: () => received.map(({ body }) => JSON.parse(body).event as string),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
  }
}
