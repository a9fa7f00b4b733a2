import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '../../apps/server/test/free-port.ts'
import { type Signing, signAnswer, testKey, toPublic } from '../../packages/sdk/test/signer.ts'

export interface Seen {
  method: string
  path: string
  /** Names in lower case. */
  headers: Record<string, string>
  rawBody: string
  // biome-ignore lint/suspicious/noExplicitAny: read from JSON
  body: any
  /** What comes after `/api/client/`. */
  call: string
  /** When it arrived, in milliseconds of `performance.now()`. */
  at: number
}

export interface Prepared {
  status: number
  headers: Record<string, string | string[]>
  body: string | Buffer
}

/** Prepares the response to a request, or handles it alone and returns undefined. */
export type Behaviour = (seen: Seen, response: ServerResponse) => Prepared | undefined

export const user = {
  _id: 'usr_1',
  username: 'ada',
  email: null,
  expiresAt: '2030-01-01T00:00:00.000Z',
  inGrace: false,
  term: 'date',
  createdAt: '2025-01-01T00:00:00.000Z',
  lastLoginAt: null,
  hwidBound: true,
  features: ['pro'],
  variables: { token: 'for users' },
  updatesUntil: null,
  devices: { used: 1, limit: 1 },
  seat: null,
}

/** A response signed for the request; a text is sent as it is. */
export function signed(seen: Seen, status: number, content: unknown, how?: Signing): Prepared {
  const body = typeof content === 'string' ? content : JSON.stringify(content)
  return { status, body, headers: { ...signAnswer(seen, status, body, how).headers } }
}

export const succeed = (data: unknown): Behaviour => {
  return (seen) => signed(seen, 200, { success: true, data })
}

export const refuse = (status: number, code: string): Behaviour => {
  return (seen) => signed(seen, status, { success: false, code, message: `${code} in the app's words` })
}

export const plain = (status: number, body = '', headers: Record<string, string> = {}): Behaviour => {
  return () => ({ status, body, headers })
}

export function send(response: ServerResponse, { status, headers, body }: Prepared) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}

const opened = succeed({
  session: 'session-1',
  expiresAt: '2030-01-02T00:00:00.000Z',
  app: { name: 'Tally', version: '1.0.0' },
  updateAvailable: false,
  variables: {},
})

/** One of the addresses of a stand-in, with its own script. */
export interface Space {
  baseUrl: string
  seen: Seen[]
  /** Sets the responses to a call, in order; the last one repeats. */
  on(call: string, ...behaviours: Behaviour[]): void
  /** The requests of a call. */
  requests(call: string): Seen[]
}

/** A loopback server that signs like the real one and misbehaves on request, under as many addresses as needed. */
export async function startStandIn() {
  const spaces = new Map<string, { seen: Seen[]; script: Map<string, Behaviour[]> }>()

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const rawBody = Buffer.concat(chunks).toString('utf8')
    const path = request.url ?? ''
    const [, name = '', call = ''] = /^\/(\w+)\/api\/client\/(.+)$/.exec(path) ?? []
    const space = spaces.get(name)
    const seen: Seen = {
      method: request.method ?? '',
      path,
      headers: request.headers as Record<string, string>,
      rawBody,
      body: rawBody === '' ? undefined : JSON.parse(rawBody),
      call,
      at: performance.now(),
    }
    if (!space) throw new Error(`No such address: ${path}`)
    space.seen.push(seen)
    const behaviours = space.script.get(call)
    const behaviour = (behaviours && behaviours.length > 1 ? behaviours.shift() : behaviours?.[0]) ?? opened
    const prepared = behaviour(seen, response)
    if (!prepared) return
    send(response, prepared)
  }

  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    publicKeys: [toPublic(testKey)],
    space(): Space {
      const name = `s${spaces.size}`
      const space = { seen: [] as Seen[], script: new Map<string, Behaviour[]>() }
      spaces.set(name, space)
      return {
        baseUrl: `${origin}/${name}`,
        seen: space.seen,
        on: (call, ...behaviours) => void space.script.set(call, behaviours),
        requests: (call) => space.seen.filter((each) => each.call === call),
      }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type StandIn = Awaited<ReturnType<typeof startStandIn>>

/** The address of a port at which nothing listens. */
export async function unusedAddress(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}
