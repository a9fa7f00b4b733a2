import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callOver, startProcess } from '../../../apps/server/test/server-process.ts'

/** A real server in its own process, with a vendor, an app and a way to make API keys. */
export async function startVendor() {
  const dataDir = await mkdtemp(join(tmpdir(), 'keyward-automation-'))
  const server = await startProcess({ DATA_DIR: dataDir })
  const signUp = { name: 'Vera', email: 'vera@example.com', password: 'a good password' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: signUp })).json.data
  const call = async (method: string, path: string, body?: object) =>
    (await callOver(server.url, method, path, { token, body })).json.data
  const { app } = await call('POST', '/apps', { name: 'Tally' })
  return {
    url: server.url,
    appId: app.appId as string,
    call,
    makeKey: async (...permissions: string[]): Promise<string> =>
      (await call('POST', '/api-keys', { name: 'Shop', permissions })).key,
    stop: async () => {
      await server.end('SIGTERM')
      await rm(dataDir, { recursive: true })
    },
  }
}

export type StartedVendor = Awaited<ReturnType<typeof startVendor>>
