import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { TestServer } from './harness.ts'
import { quickestOf } from './server-process.ts'

const cli = quickestOf('src/cli.mjs')
const commandHost = fileURLToPath(new URL('command-host.mjs', import.meta.url))

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

let host: ChildProcess | undefined
let previous: Promise<unknown> = Promise.resolve()

/**
 * Runs the command line with the configuration of a running server. One process runs all of these commands, because
 * starting one takes many times as long as a command. `runKeyward` starts one.
 */
export function keyward(
  on: TestServer,
  args: string[],
  environment: Record<string, string> = {},
): Promise<CommandResult> {
  const { dataDir, databaseUrl = '', secretKey = '' } = on.config
  const configured = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, ...environment }
  return runKeywardInHost(args, configured)
}

/** Runs it with only these variables in the process that runs many commands. */
export function runKeywardInHost(
  args: string[],
  environment: Record<string, string>,
): Promise<CommandResult> {
  const result = previous.then(() => runNext(args, environment))
  previous = result.catch(() => {})
  return result
}

async function runNext(args: string[], environment: Record<string, string>): Promise<CommandResult> {
  host ??= startHost()
  const ended = new AbortController()
  const answer = once(host, 'message', { signal: ended.signal })
  const fail = () => ended.abort(new Error(`The command ${args.join(' ')} ended its process`))
  host.once('exit', fail)
  host.send({ args, environment })
  try {
    return (await answer)[0]
  } finally {
    host?.off('exit', fail)
  }
}

/** The host ends with this process. */
function startHost(): ChildProcess {
  const started = fork(commandHost, { env: {}, execArgv: [] })
  started.once('exit', () => {
    host = undefined
  })
  return started
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
