import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { locked } from './lock-file.ts'
import type { KeywardStorage } from './types.ts'

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
