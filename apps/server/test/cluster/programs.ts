import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** A program of the cluster with everything that it has started. */
export interface Program {
  pid: number
  signal(signal: NodeJS.Signals): void
  ended: Promise<void>
}

const running = new Set<Program>()

/** Starts a program whose output goes to a file. */
export function startProgram(
  command: string,
  args: readonly string[],
  options: { log: string; env?: Record<string, string>; uid?: number; gid?: number; cwd?: string },
): Program {
  const { log, env, ...rest } = options
  const output = openSync(log, 'a')
  const child: ChildProcess = spawn(command, args, {
    ...rest,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', output, output],
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve())
    child.once('error', reject)
  })
  const pid = child.pid ?? 0
  const program: Program = {
    pid,
    signal: (signal) => {
      for (const each of familyOf(pid)) send(each, signal)
    },
    ended,
  }
  running.add(program)
  void ended.finally(() => running.delete(program)).catch(() => {})
  return program
}

/** Kills what is still running, with everything that it has started. */
export async function endAll(): Promise<void> {
  for (const program of running) program.signal('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** The ids of a process and of all its descendants. */
export function familyOf(pid: number): number[] {
  if (!(pid > 1)) return []
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      parents.set(Number(name), Number(fields[1]))
    } catch {
      // The process has already ended.
    }
  }
  const family = [pid]
  for (const one of family) {
    for (const [child, parent] of parents) if (parent === one) family.push(child)
  }
  return family
}

/** Repeats the work until it returns something. */
export async function until<T>(
  what: string,
  seconds: number,
  work: () => Promise<T | undefined>,
): Promise<T> {
  const end = performance.now() + seconds * 1000
  let last: unknown
  while (performance.now() < end) {
    try {
      const found = await work()
      if (found !== undefined) return found
    } catch (error) {
      last = error
    }
    await wait(200)
  }
  throw new Error(`${what}: not within ${seconds} seconds`, { cause: last })
}
