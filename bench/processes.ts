import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Running {
  baseUrl: string
  pid: number
  stop(): Promise<void>
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

let pinning: string[] = []

/** From here on, started processes run on these cores only, named as for `taskset`, which Linux has. */
export function pinProcesses(cores: string): void {
  pinning = ['taskset', '-c', cores]
}

/** Whether the load tool has cores of its own. */
export const arePinned = (): boolean => pinning.length > 0

/** Forks a script of the bench on the cores of the measured processes. */
function forkPinned(script: string, args: string[] = []): ChildProcess {
  const [execPath = '', ...execArgv] = [...pinning, process.execPath]
  return fork(at(script), args, { stdio: 'inherit', execPath, execArgv })
}

const thisVersion = at('../')

/** Starts one server process on a free loopback port, like an operator, with the default log level. */
export async function startServer(
  environment: Record<string, string>,
  flags: string[] = [],
  checkout = thisVersion,
): Promise<Running> {
  const inherited = ['PATH', 'HOME', 'TMPDIR', 'UV_THREADPOOL_SIZE'].map((name) => [name, process.env[name]])
  const env = Object.fromEntries(inherited.filter(([, value]) => value !== undefined))
  Object.assign(
    env,
    { PORT: '0', HOST: '127.0.0.1', RATE_LIMITS: 'off', DEFAULT_PLAN: 'premium' },
    environment,
  )
  const source = join(checkout, 'apps/server/src')
  // Earlier versions start with main.ts.
  const main = ['main.mjs', 'main.ts'].map((name) => join(source, name)).find((path) => existsSync(path))
  if (!main) throw new Error(`there is no server in ${source}`)
  const [command = '', ...args] = [...pinning, process.execPath, ...flags, main]
  const child = spawn(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('exit', (status) => reject(new Error(`the server exited with status ${status}`)))
    const lines = createInterface(child.stdout).on('line', (line) => {
      const address = /^Keyward is ready: (\S+)/.exec(line)?.[1]
      if (!address) return
      lines.close()
      child.stdout.resume()
      resolve(address)
    })
  })
  return { baseUrl, pid: child.pid ?? 0, stop: () => end(child) }
}

/** A response without the headers that Node adds. */
export interface Answer {
  status: number
  headers: [string, string][]
  body: string
}

/** Starts a process that reads each request and returns the real server's bytes. */
export const startBare = (answers: Record<string, Answer>): Promise<Running> =>
  startAnswering('./bare.ts', answers)

/** Starts a process that does the least that the architecture requires, and returns the real server's body. */
export const startFloor = (answers: Record<string, Answer>): Promise<Running> =>
  startAnswering('./floor.ts', answers)

async function startAnswering(script: string, answers: Record<string, Answer>): Promise<Running> {
  const child = forkPinned(script)
  child.send(answers)
  const [port] = (await once(child, 'message')) as [number]
  return { baseUrl: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Password hashes per second on an idle machine. */
export async function measureHashes(seconds: number): Promise<number> {
  const child = forkPinned('./hashes.ts', [String(seconds)])
  const [rate] = (await once(child, 'message')) as [number]
  await end(child)
  return rate
}
