import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buildApp } from '../../apps/server/src/app.ts'
import { readConfig } from '../../apps/server/src/config.ts'
import { prepare } from '../../apps/server/src/db/prepare.ts'
import { makeDataDir } from '../../apps/server/test/migrated.ts'

const prefix = '/tools/licenses'

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the call
type Data = any

export interface Vendor {
  app: { _id: string; appId: string; appSecret: string }
  /** What a program pins. */
  keys: { kid: string; status: string }[]
  /** Calls the API as the owner and returns the data; throws unless it succeeds. */
  call(method: string, path: string, body?: object): Promise<Data>
  set(settings: object): Promise<void>
  issueKey(days?: number): Promise<{ _id: string; key: string }>
  /** Sells a license of a type that never expires. */
  sell(type: object): Promise<{ _id: string; key: string }>
  /** The end user that signed up last. */
  client(): Promise<{ _id: string }>
}

/** The real server, behind a proxy that strips the public path and can be stopped. */
export async function startServer() {
  const dataDir = await makeDataDir('keyward-live-')
  await writeFile(join(dataDir, 'vpn.txt'), '127.0.0.0/8\n')
  const config = readConfig({
    DATA_DIR: dataDir,
    RATE_LIMITS: 'off',
    VPN_RANGES_FILE: join(dataDir, 'vpn.txt'),
    PUBLIC_URL: `http://localhost${prefix}`,
  })
  const { database, seal } = await prepare(config)
  const consoleDir = join(dataDir, 'none')
  const server = await buildApp({
    config,
    database,
    seal,
    consoleDir,
    logLevel: 'silent',
    checkAnswers: true,
  })
  const serverUrl = await server.listen({ port: 0, host: '127.0.0.1' })
  let proxy = startProxy(serverUrl)
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo

  const stop = async () => {
    proxy.closeAllConnections()
    proxy.close()
    await once(proxy, 'close')
  }
  let vendors = 0
  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    /** Programs cannot reach the server until `start`. */
    stop,
    async start() {
      proxy = startProxy(serverUrl)
      await once(proxy.listen(port, '127.0.0.1'), 'listening')
    },
    /** A new owner with a new app. */
    async vendor(): Promise<Vendor> {
      let token: string | undefined
      const call: Vendor['call'] = async (method, path, body) => {
        const response = await fetch(`${serverUrl}/api${path}`, {
          method,
          headers: {
            ...(body && { 'content-type': 'application/json' }),
            ...(token && { authorization: `Bearer ${token}` }),
          },
          body: body && JSON.stringify(body),
        })
        const answer = (await response.json()) as { success: boolean; data: Data }
        if (!answer.success) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
        token ??= answer.data.token
        return answer.data
      }
      const email = `vendor-${++vendors}@example.com`
      await call('POST', '/auth/register', { name: 'Vera', email, password: 'a good password' })
      const { app } = await call('POST', '/apps', { name: 'Tally' })
      const { keys } = await call('GET', `/client/apps/${app.appId}/keys`)
      const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
      return {
        app,
        keys,
        call,
        set: (settings) => call('PUT', `/apps/${app._id}`, { settings }),
        issueKey: async (days = 30) =>
          (await call('POST', '/licenses', { app: app._id, expiresAt: inDays(days) })).license,
        async sell(type) {
          const path = `/apps/${app._id}/license-types`
          const { licenseType } = await call('POST', path, { term: 'forever', ...type })
          return (await call('POST', '/licenses', { app: app._id, type: licenseType._id })).license
        },
        client: async () => (await call('GET', `/clients?app=${app.appId}`)).clients[0],
      }
    },
    async close() {
      await stop()
      await server.close()
      await database.close()
      await rm(dataDir, { recursive: true })
    },
  }
}

export type LiveServer = Awaited<ReturnType<typeof startServer>>

function startProxy(serverUrl: string): Server {
  return createServer((incoming, outgoing) => {
    const { method, headers } = incoming
    const target = serverUrl + incoming.url!.slice(prefix.length)
    const forwarded = request(target, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
}
