import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { KeywardStorage } from './types.ts'

/** A change takes milliseconds, so an older lock is that of a program that was ended. */
const staleLockMs = 10_000
const longestWaitMs = 2_000
const pollMs = 20

/** The folder for data of programs that the user does not edit, on this system. */
function dataFolder(): string {
  const { env } = process
  // An empty variable counts as unset; a relative path would be another file in every folder.
  if (platform() === 'win32') return env.LOCALAPPDATA || join(home(), 'AppData', 'Local')
  if (platform() === 'darwin') return join(home(), 'Library', 'Application Support')
  return env.XDG_STATE_HOME || join(home(), '.local', 'state')
}

function home(): string {
  const path = homedir()
  if (!isAbsolute(path)) throw new Error('This user has no home folder')
  return path
}

/** A file of one app in the user's data folder, readable by the user alone. */
export function userDataFile(appId: string, folder = dataFolder()): KeywardStorage {
  const path = join(folder, 'keyward', `${appId.replace(/\W/g, '_')}.json`)
  return {
    async read() {
      return readFile(path, 'utf8').catch((error) => {
        if (error.code === 'ENOENT') return null
        throw error
      })
    },
    async write(text) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const draft = `${path}.${randomUUID()}.tmp`
      try {
        await writeFile(draft, text, { mode: 0o600 })
        await rename(draft, path)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },
    lock: (change) => locked(`${path}.lock`, change),
  }
}

/** Runs a change while this program alone has created the lock; without it where that is impossible. */
async function locked<T>(lock: string, change: () => Promise<T>): Promise<T> {
  const isOurs = await takeLock(lock)
  try {
    return await change()
  } finally {
    if (isOurs) await rm(lock, { force: true }).catch(() => {})
  }
}

async function takeLock(lock: string): Promise<boolean> {
  const endsAt = performance.now() + longestWaitMs
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 }).catch(() => {})
  while (performance.now() < endsAt) {
    try {
      await (await open(lock, 'wx', 0o600)).close()
      return true
    } catch (error) {
      const { code } = error as { code?: unknown }
      // Windows reports a file that is being deleted as one that may not be opened.
      if (code !== 'EEXIST' && platform() !== 'win32') return false
    }
    if (await isStale(lock)) await rm(lock, { force: true }).catch(() => {})
    else await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return false
}

async function isStale(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined)
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > staleLockMs
}
