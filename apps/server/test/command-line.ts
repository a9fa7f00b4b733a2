import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestServer } from './harness.ts'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command line as an operator would, while the server runs. */
export const keyward = (
  on: TestServer,
  args: string[],
  environment: Record<string, string> = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const { dataDir, databaseUrl = '', secretKey = '' } = on.config
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, ...environment }
    execFile(process.execPath, [cli, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr })
    })
  })
