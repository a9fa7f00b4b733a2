import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Signing, signAnswer, testKey, toPublic } from './signer.ts'

export interface Seen {
  method: string
  path: string
  headers: Record<string, string | undefined>
  body: Record<string, unknown> | undefined
  rawBody: string
}

export interface Prepared {
  status: number
  headers: Record<string, string>
  body: string
}

export type Behaviour = (seen: Seen, response: ServerResponse) => Prepared | undefined

export const user = {
  _id: 'usr_1',
  username: 'ada',
  email: null,
  expiresAt: '2030-01-01T00:00:00.000Z',
  createdAt: '2025-01-01T00:00:00.000Z',
  lastLoginAt: null,
  hwidBound: true,
  devices: { used: 1, limit: 1 },
  seat: null,
}

/** A response signed for the request, to be sent or tampered with. */
export function signed(seen: Seen, status: number, content: unknown, how?: Signing): Prepared {
  const body = JSON.stringify(content)
  return { status, body, headers: { ...signAnswer(seen, status, body, how).headers } }
}

export const succeed = (data: unknown, message?: string): Behaviour => {
  return (seen) => signed(seen, 200, { success: true, message, data })
}

export const refuse = (status: number, code: string, message = `${code} in the app's words`): Behaviour => {
  return (seen) => signed(seen, status, { success: false, code, message })
}

/** An unsigned response, unless `headers` contain a signature. */
export const plain = (status: number, body = '', headers: Record<string, string> = {}): Behaviour => {
  return () => ({ status, body, headers })
}

const opened: Behaviour = succeed({
  session: 'session-1',
  expiresAt: '2030-01-02T00:00:00.000Z',
  app: { name: 'Tally', version: '1.0.0' },
  updateAvailable: false,
})

/** A loopback server that signs like the real one and misbehaves on request. */
export async function startStandIn(prefix = '') {
  const script = new Map<string, Behaviour[]>()
  const seen: Seen[] = []

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const rawBody = Buffer.concat(chunks).toString('utf8')
    const path = request.url ?? ''
    const one: Seen = {
      method: request.method ?? '',
      path,
      headers: request.headers as Seen['headers'],
      body: rawBody === '' ? undefined : JSON.parse(rawBody),
      rawBody,
    }
    seen.push(one)
    const name = path.replace(`${prefix}/api/client/`, '')
    const behaviours = script.get(name)
    const behaviour = (behaviours && behaviours.length > 1 ? behaviours.shift() : behaviours?.[0]) ?? opened
    const prepared = behaviour(one, response)
    if (prepared) {
      response.writeHead(prepared.status, { 'content-type': 'application/json', ...prepared.headers })
      response.end(prepared.body)
    }
  }

  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl: origin + prefix,
    publicKeys: [toPublic(testKey)],
    seen,
    /** Sets the responses to a call, in order; the last one repeats. */
    on(name: string, ...behaviours: Behaviour[]) {
      script.set(name, behaviours)
    },
    calls: () => seen.map((one) => one.path.replace(`${prefix}/api/client/`, '')),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type StandIn = Awaited<ReturnType<typeof startStandIn>>
