import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type ServerProcess, startProcess } from '../server-process.ts'
import { databaseUrls } from './front.ts'
import { toLoopback } from './settings.ts'

/** A node of Keyward. */
export interface Node {
  name: string
  start(): Promise<void>
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  signal(signal: NodeJS.Signals): void
}

export const nodeNames = ['app1', 'app2', 'app3'] as const

export function toNode(directory: string, secretKey: string, name: (typeof nodeNames)[number]): Node {
  let server: ServerProcess | undefined
  const environment = {
    HOST: toLoopback(`10.0.0.3${name.slice(-1)}`),
    PORT: '3000',
    PUBLIC_URL: toLoopback('http://10.0.0.20:8080'),
    TRUST_PROXY: toLoopback('10.0.0.20'),
    DATABASE_URL: name === 'app3' ? databaseUrls.pooler : databaseUrls.proxy,
    DATA_DIR: join(directory, name),
    SECRET_KEY: secretKey,
    DEFAULT_PLAN: 'premium',
    RATE_LIMITS: 'on',
  }
  return {
    name,
    async start() {
      server = await startProcess(environment)
      // Open from now on: its last lines may arrive once the directory is gone.
      const log = openSync(join(directory, `${name}.log`), 'a')
      for (const stream of [server.process.stdout, server.process.stderr])
        stream?.on('data', (text) => writeSync(log, text))
    },
    end: async (signal) => void (await server?.end(signal)),
    signal: (signal) => void server?.process.kill(signal),
  }
}
