import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname } from 'node:path'

/** A change takes milliseconds, so an older lock is that of a program that was ended. */
const staleLockMs = 10_000
const longestWaitMs = 2_000
const pollMs = 20
const longestHolder = 4_096

/** Runs a change while this program alone has created the lock; without it where that is impossible. */
export async function locked<T>(lock: string, change: () => Promise<T>): Promise<T> {
  const isOurs = await takeLock(lock)
  try {
    return await change()
  } finally {
    if (isOurs) await remove(lock)
  }
}

async function takeLock(lock: string): Promise<boolean> {
  const endsAt = performance.now() + longestWaitMs
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 }).catch(() => {})
  const holder = (await describeProgram(process.pid)) ?? ''
  while (performance.now() < endsAt) {
    const attempt = await create(lock, holder)
    if (attempt !== 'exists') return attempt === 'created'
    if (!(await removeStale(lock))) await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return false
}

async function create(path: string, text: string): Promise<'created' | 'exists' | 'impossible'> {
  const whole = text === '' ? undefined : await createWhole(path, text)
  if (whole) return whole
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(text).catch(() => {})
    await file.close()
    return 'created'
  } catch (error) {
    const { code } = error as { code?: unknown }
    // Windows reports a file that is being deleted as one that may not be opened.
    return code === 'EEXIST' || platform() === 'win32' ? 'exists' : 'impossible'
  }
}

/** Creates a file together with its text; undefined where that is impossible. */
async function createWhole(path: string, text: string): Promise<'created' | 'exists' | undefined> {
  if (await stat(path).catch(() => undefined)) return 'exists'
  // Written after it was created, the lock of a program that is killed in between would name no holder.
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 })
    await link(draft, path)
    return 'created'
  } catch (error) {
    return (error as { code?: unknown }).code === 'EEXIST' ? 'exists' : undefined
  } finally {
    await remove(draft)
  }
}

/** Removes the lock of a program that was ended; returns whether it did. */
async function removeStale(lock: string): Promise<boolean> {
  if (!(await isStale(lock))) return false
  // One program at a time, and each looks again: otherwise the second one would remove the lock that the first one took.
  const claim = `${lock}.claim`
  if ((await create(claim, '')) !== 'created') {
    if (await isOld(claim)) await remove(claim)
    return false
  }
  try {
    return (await isStale(lock)) && (await remove(lock))
  } finally {
    await remove(claim)
  }
}

const isStale = async (lock: string) => (await isOfEndedProgram(lock)) || (await isOld(lock))

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > staleLockMs
}

/** False wherever that cannot be known: on another machine, in another container, of an earlier version. */
async function isOfEndedProgram(lock: string): Promise<boolean> {
  const holder = await readHolder(lock).catch(() => '')
  const [, pid] = /^([1-9]\d{0,9}) \d+ \S+\n$/.exec(holder) ?? []
  if (pid === undefined) return false
  const own = await describeProgram(process.pid)
  if (own === undefined || placeOf(own) !== placeOf(holder)) return false
  if (!isRunning(Number(pid))) return true
  // The system gives the number of an ended program to a new one.
  const running = await describeProgram(Number(pid))
  return running !== undefined && running !== holder
}

/** Something else may be at its place: reading a pipe waits forever. */
async function readHolder(lock: string): Promise<string> {
  const found = await stat(lock)
  return found.isFile() && found.size <= longestHolder ? readFile(lock, 'utf8') : ''
}

const placeOf = (program: string) => program.slice(program.lastIndexOf(' '))

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}

/** Number and start of a program, and where they are its own; undefined on systems other than Linux. */
async function describeProgram(pid: number): Promise<string | undefined> {
  try {
    const [boot, status, pids, times] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readlink('/proc/self/ns/pid'),
      readlink('/proc/self/ns/time').catch(() => '-'),
    ])
    // The second field is the name in parentheses, which may contain spaces.
    const start = status.slice(status.lastIndexOf(')') + 2).split(' ')[19]
    return start && /^\d+$/.test(start) ? `${pid} ${start} ${boot.trim()}/${pids}/${times}\n` : undefined
  } catch {
    return undefined
  }
}

const remove = (path: string) =>
  rm(path).then(
    () => true,
    () => false,
  )
