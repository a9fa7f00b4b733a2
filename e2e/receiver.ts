import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver of webhooks on this machine, which keeps what it gets. */
export interface Receiver {
  url: string
  received: Received[]
  /** What it answers. */
  status: number
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    receiver.received.push({ headers: request.headers, body })
    response.writeHead(receiver.status, { 'content-type': 'text/plain' }).end(`Answered ${receiver.status}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keyward`,
    received: [],
    status: 204,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return receiver
}

/** Which of the secrets have signed a request. */
export function signersOf({ headers, body }: Received, secrets: readonly string[]): string[] {
  const sent = String(headers['webhook-signature']).split(' ')
  return secrets.filter((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    return sent.includes(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  })
}
