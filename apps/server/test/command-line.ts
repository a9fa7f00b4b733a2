import { type ChildProcess, execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestServer } from './harness.ts'

const cli = fileURLToPath(new URL('../src/cli.mjs', import.meta.url))

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command line with the configuration of a running server. */
export function keyward(
  on: TestServer,
  args: string[],
  environment: Record<string, string> = {},
): Promise<CommandResult> {
  const { dataDir, databaseUrl = '', secretKey = '' } = on.config
  return runKeyward(args, {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    ...environment,
  })
}

/** Runs it with only these variables; `started` gets the process. */
export const runKeyward = (
  args: string[],
  environment: Record<string, string>,
  started: (process: ChildProcess) => void = () => {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, ...args],
      { env: environment },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr })
      },
    )
    started(child)
  })
