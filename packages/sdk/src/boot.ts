import { readFile, readlink } from 'node:fs/promises'
import { platform, uptime } from 'node:os'

/** Names the run of the system and the clock that it counts with; undefined on systems other than Linux. */
async function readBootId(): Promise<string | undefined> {
  if (platform() !== 'linux') return undefined
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => undefined)
  return boot && `${boot.trim()}/${await readlink('/proc/self/ns/time').catch(() => '-')}`
}

let id: Promise<string | undefined> | undefined

/** The run of the system and how long it lasts already, in seconds. */
export async function readBoot(): Promise<{ id: string; uptime: number } | undefined> {
  id ??= readBootId()
  const found = await id
  return found === undefined ? undefined : { id: found, uptime: uptime() }
}
