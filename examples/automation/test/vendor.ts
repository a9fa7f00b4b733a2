import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeDataDir } from '../../../apps/server/test/migrated.ts'
import { callOver, startProcess } from '../../../apps/server/test/server-process.ts'

/** A real server in its own process, with a vendor, an app and a way to make API keys. */
export async function startVendor() {
  const dataDir = await makeDataDir('keyward-automation-')
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

const example = fileURLToPath(new URL('..', import.meta.url))

/** Copies the example to a folder below it, where it finds the same packages and writes nothing into the example itself. */
export async function copyExample(): Promise<string> {
  await mkdir(join(example, '.cache'), { recursive: true })
  const folder = await mkdtemp(join(example, '.cache/copy-'))
  for (const name of ['package.json', 'tsconfig.json', 'src/main.ts', 'src/calls.ts'])
    await cp(join(example, name), join(folder, name))
  return folder
}

/** Runs a program, and returns what it printed with its status. */
export function runIn(
  cwd: string,
  program: string,
  args: string[],
  environment: Record<string, string> = {},
) {
  return new Promise<{ status: number; output: string }>((resolve) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment }
    execFile(program, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, output: stdout + stderr }),
    )
  })
}
