import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join, parse } from 'node:path'

const server = dirname(import.meta.dirname)
const bundled = process.env.TEST_SERVER
/** A program of the server, joined to few files if scripts/bundle-server.mjs did so for this run. */
export const quickestOf = (program: string): string =>
  bundled === undefined ? join(server, program) : join(dirname(bundled), `${parse(program).name}.mjs`)

export const main = join(server, 'src/main.mjs')
export const quickest = quickestOf('src/main.mjs')

/** The real server in its own process. */
export interface ServerProcess {
  url: string
  process: ChildProcess
  /** Everything written to standard output and error so far. */
  output(): string
  /** Sends the signal and waits for the exit. */
  end(signal: 'SIGHUP' | 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

/** Ends a hanging server; far longer than a start takes on a slow machine. */
const startTimeoutMs = 120_000

/** Ends a server whose test was killed and so could not end it. */
const endsWithTest = `setInterval(() => {
  if (process.ppid !== ${process.pid}) process.kill(process.pid, 'SIGKILL')
}, 500).unref()`

/** Starts the server like an operator and waits until it reports its address. */
export async function startProcess(
  environment: Record<string, string>,
  flags: string[] = [],
  program = quickest,
): Promise<ServerProcess> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const tied = ['--import', `data:text/javascript,${encodeURIComponent(endsWithTest)}`]
  const child = spawn(process.execPath, [...tied, ...flags, program], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0', RATE_LIMITS: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let written = ''
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      process.off('exit', kill)
      resolve(code)
    })
  })
  const url = await new Promise<string>((resolve, reject) => {
    const hanging = setTimeout(() => {
      kill()
      reject(new Error(`the server did not become ready: ${written}`))
    }, startTimeoutMs)
    const listen = (data: Buffer) => {
      written += data
      const address = /Keyward is ready: (\S+)/.exec(written)?.[1]
      if (!address) return
      clearTimeout(hanging)
      resolve(address)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('exit', () => {
      clearTimeout(hanging)
      reject(new Error(`the server exited: ${written}`))
    })
  })
  return {
    url,
    process: child,
    output: () => written,
    end: async (signal) => {
      child.kill(signal)
      const hanging = setTimeout(kill, startTimeoutMs)
      return ended.finally(() => clearTimeout(hanging))
    },
  }
}

interface ServerResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the tests read of them
  json: any
}

/** Sends a request over the network. */
export async function callOver(
  url: string,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ServerResponse> {
  const answer = await fetch(`${url}/api${path}`, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  return { status: answer.status, json: await answer.json() }
}
