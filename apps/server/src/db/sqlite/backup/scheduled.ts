// ADR 98: scheduled backups have names of their own, and nothing else is ever deleted.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fromStamp, toStamp } from '../../files.ts'
import type { KeySettings } from '../../secret-key.ts'
import type { BackupOrder, BackupResult } from './verified.ts'

export interface ScheduledBackup {
  path: string
  /** Counts up, so that a clock that was wrong changes no order. */
  number: number
  madeAt: number
}

const digits = 6

/** Tells the backups of this installation from those of others in the same folder. */
export const newBackupId = (): string => randomBytes(8).toString('hex')

const shortId = (id: string): string => id.slice(0, 8)

/** The scheduled backups of an installation, the last one first; links and folders with such names are none. */
export async function listScheduled(directory: string, id: string): Promise<ScheduledBackup[]> {
  const name = new RegExp(
    `^keyward-scheduled-${shortId(id)}-(\\d{${digits},})-(\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d-\\d{3}Z)\\.tar$`,
  )
  const entries = await readdir(directory, { withFileTypes: true }).catch(noneIfMissing)
  return entries
    .flatMap((entry) => {
      const [, number, stamp] = (entry.isFile() && name.exec(entry.name)) || []
      if (number === undefined || stamp === undefined) return []
      return [{ path: join(directory, entry.name), number: Number(number), madeAt: fromStamp(stamp) }]
    })
    .sort((a, b) => b.number - a.number)
}

/** A folder that is not there has no backups: the next one says so, or makes it. */
function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return []
  throw error
}

/** Deletes all but the newest ones. */
export async function removeOldScheduled(directory: string, id: string, keep: number): Promise<void> {
  for (const { path } of (await listScheduled(directory, id)).slice(keep)) await rm(path)
}

const scratchPrefix = (id: string): string => `.keyward-${id}.partial-`

/** Removes what a killed process of this installation has left. */
export async function removeUnfinished(directory: string, id: string): Promise<void> {
  const names = await readdir(directory).catch(noneIfMissing)
  for (const name of names.filter((each) => each.startsWith(scratchPrefix(id))))
    await rm(join(directory, name), { recursive: true, force: true })
}

interface Wanted extends KeySettings {
  directory: string
  id: string
  number: number
  now: number
}

export interface RunningBackup {
  path: string
  result: Promise<BackupResult>
  /** Kills it; the result is then that of a process that was killed. */
  stop(): void
}

const usualProgram = new URL('./backup-process.ts', import.meta.url)
/** The system's settings for files and compiled code; secrets stay out of the environment. */
const passedOn = ['PATH', 'TMPDIR', 'SQLITE_TMPDIR', 'NODE_COMPILE_CACHE', 'LD_LIBRARY_PATH', 'SystemRoot']

/** Makes a scheduled backup in a process of its own, which the server can end at once. */
export function startScheduled(wanted: Wanted, limitMs: number, program = usualProgram): RunningBackup {
  const { directory, id, number, now, ...others } = wanted
  const name = `keyward-scheduled-${shortId(id)}-${String(number).padStart(digits, '0')}-${toStamp(now)}.tar`
  const scratch = `${scratchPrefix(id)}${randomBytes(4).toString('hex')}`
  const order: BackupOrder = { ...others, directory, now, name, scratch }
  const env = Object.fromEntries(
    passedOn.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : [])),
  )
  const child = fork(program, { env, execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
  late.unref()
  const result = new Promise<BackupResult>((resolve) => {
    const fail = (what: string) => resolve({ fault: 'process', reason: `The process of the backup ${what}.` })
    child.once('message', (answer) => resolve(answer as BackupResult))
    child.on('error', (error) => fail(`cannot run: ${error.message}`))
    child.once('exit', (code, signal) => {
      const end = () => fail(signal === null ? `ended with ${code}` : `was ended by ${signal}`)
      // Its answer may still be on the way.
      if (child.connected) child.once('disconnect', () => setImmediate(end))
      else setImmediate(end)
    })
  }).finally(() => {
    clearTimeout(late)
    return removeUnfinished(directory, id).catch(() => {})
  })
  child.send(order)
  return { path: join(directory, name), result, stop: () => void child.kill('SIGKILL') }
}
