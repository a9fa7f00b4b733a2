import { rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { buildApp } from '../../../apps/server/src/app.ts'
import { readConfig } from '../../../apps/server/src/config.ts'
import { prepare } from '../../../apps/server/src/db/prepare.ts'
import { makeDataDir } from '../../../apps/server/test/migrated.ts'
import type { PublicJwk } from '../src/index.ts'

const prefix = '/tools/licenses'

export interface TestApp {
  _id: string
  appId: string
  appSecret: string
}

interface OwnerData {
  devices: object[]
  token?: string
  app: TestApp
  keys: PublicJwk[]
  license: { _id: string; key: string }
  clients: { _id: string }[]
  licenseType: { _id: string }
  release: { _id: string }
}

export type Owner = (method: string, path: string, body?: object) => Promise<OwnerData>

export interface RealServer {
  /** Where owners call it. */
  serverUrl: string
  /** The address for programs, through a proxy that strips its path. */
  baseUrl: string
  stop(): Promise<void>
}

/** Starts the real server behind a proxy that strips the public path. */
export async function startRealServer(): Promise<RealServer> {
  const dataDir = await makeDataDir('keyward-sdk-')
  await writeFile(join(dataDir, 'vpn.txt'), '127.0.0.0/8\n')
  const config = readConfig({
    DATA_DIR: dataDir,
    RATE_LIMITS: 'off',
    VPN_RANGES_FILE: join(dataDir, 'vpn.txt'),
    PUBLIC_URL: `http://localhost${prefix}`,
  })
  const { database, seal } = await prepare(config)
  const server = await buildApp({
    config,
    database,
    seal,
    consoleDir: join(dataDir, 'none'),
    logLevel: 'silent',
    checkAnswers: true,
  })
  const serverUrl = await server.listen({ port: 0, host: '127.0.0.1' })
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers } = incoming
    const target = serverUrl + incoming.url!.slice(prefix.length)
    const forwarded = request(target, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  return {
    serverUrl,
    baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`,
    stop: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await server.close()
      await database.close()
      await rm(dataDir, { recursive: true })
    },
  }
}

let vendors = 0

/** A new owner with one app, and the app's public keys. */
export async function signUpVendor({
  serverUrl,
}: RealServer): Promise<{ owner: Owner; app: TestApp; keys: PublicJwk[] }> {
  let token: string | undefined
  const owner: Owner = async (method, path, body) => {
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
    if (token) headers.authorization = `Bearer ${token}`
    const response = await fetch(`${serverUrl}/api${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    })
    const answer = (await response.json()) as { success: boolean; data: OwnerData }
    expect(answer, `${method} ${path}`).toMatchObject({ success: true })
    token ??= answer.data.token
    return answer.data
  }
  const email = `vendor-${++vendors}@example.com`
  await owner('POST', '/auth/register', { name: 'Vera', email, password: 'a good password' })
  const { app } = await owner('POST', '/apps', { name: 'Tally' })
  const { keys } = await owner('GET', `/client/apps/${app.appId}/keys`)
  return { owner, app, keys }
}
