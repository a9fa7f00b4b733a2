import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'

/** The text that a running program writes into a lock: its number, its start, and where they are its own. */
export function lockOf(pid: number): string {
  const status = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const start = status.slice(status.lastIndexOf(')') + 2).split(' ')[19]
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const spaces = ['pid', 'time'].map((name) => readlinkSync(`/proc/self/ns/${name}`))
  return `${pid} ${start} ${[boot, ...spaces].join('/')}\n`
}

/** The text in the lock of a program that was killed. */
export async function lockOfEndedProgram(): Promise<string> {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const lock = lockOf(child.pid!)
  child.kill('SIGKILL')
  await once(child, 'exit')
  return lock
}
