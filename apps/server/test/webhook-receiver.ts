import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll } from 'vitest'

export interface Received {
  id: string
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies are checked by what the tests read of them
  body: any
}

/** A receiver of webhooks on loopback. */
export interface Receiver {
  url: string
  received: Received[]
  /** The status of its answers. */
  status: number
  /** Whether a secret signed a request, as the library of Standard Webhooks sees it. */
  isSigned(request: Received, secret: string): boolean
}

export function receiverForAll(): Receiver {
  const received: Received[] = []
  const receiver: Receiver = { url: '', received, status: 200, isSigned }
  const server = createServer(async (request, response) => {
    const raw = Buffer.concat(await request.toArray()).toString()
    received.push({
      id: String(request.headers['webhook-id']),
      headers: request.headers,
      raw,
      body: JSON.parse(raw),
    })
    response.writeHead(receiver.status).end('received')
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in/token-0123456789abcdef`
  })
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return receiver
}

function isSigned({ headers, raw }: Received, secret: string): boolean {
  // Servers of tests have a clock of their own, so that only the signature counts.
  const signer = new Webhook(secret)
  const at = new Date(Number(headers['webhook-timestamp']) * 1000)
  return String(headers['webhook-signature'])
    .split(' ')
    .includes(signer.sign(String(headers['webhook-id']), at, raw))
}
