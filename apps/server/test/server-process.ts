import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The real server in a process of its own. */
export interface ServerProcess {
  url: string
  process: ChildProcess
  /** All that it has said so far. */
  output(): string
  /** Ends it and waits until it is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

/** A server that hangs ends here; one on a slow machine has long been ready, or has long ended. */
const hangingMs = 120_000

/** Starts the server as an operator does and waits until it says that it is ready. */
export async function startProcess(environment: Record<string, string>): Promise<ServerProcess> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [main], {
    env: { PATH, HOME, PORT: '0', RATE_LIMITS: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let said = ''
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      process.off('exit', kill)
      resolve(code)
    })
  })
  const url = await new Promise<string>((resolve, reject) => {
    const hanging = setTimeout(() => {
      kill()
      reject(new Error(`the server did not get ready: ${said}`))
    }, hangingMs)
    const listen = (data: Buffer) => {
      said += data
      const address = /Keyward is ready: (\S+)/.exec(said)?.[1]
      if (!address) return
      clearTimeout(hanging)
      resolve(address)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('exit', () => {
      clearTimeout(hanging)
      reject(new Error(`the server ended: ${said}`))
    })
  })
  return {
    url,
    process: child,
    output: () => said,
    end: async (signal) => {
      child.kill(signal)
      const hanging = setTimeout(kill, hangingMs)
      return ended.finally(() => clearTimeout(hanging))
    },
  }
}

interface Answered {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the tests read of them
  json: any
}

/** Calls a server over the network. */
export async function callOver(
  url: string,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answered> {
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
