import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname, networkInterfaces, platform, release, type, version } from 'node:os'
import { KeywardUsageError } from './errors.ts'
import { placeholderIds } from './placeholder-ids.ts'

/** The properties of a machine that the hardware id is derived from. */
export interface Machine {
  platform: string
  hostname: string
  /** Name and version of the operating system. */
  system: string
  /** MAC addresses of the network cards, as `aa:bb:cc:dd:ee:ff`. */
  macs: string[]
  read(path: string): Promise<string>
  run(file: string, args: string[]): Promise<string>
}

const linuxFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id', '/sys/class/dmi/id/product_uuid']
/** Asked for the value alone, reg.exe reports a missing one like every other failure. */
export const machineGuidQuery = ['query', 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography', '/reg:64']
/** On one line: the text after an empty value is the name of a key, which all machines have. */
export const machineGuid = /^[ \t]*MachineGuid[ \t]+REG_SZ[ \t]+(\S+)/im
/** Only root may read `product_uuid`, so a refusal there is as lasting as a missing file. */
const absent = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'])
/** All zeros or all `f`, with any separators. */
const blank = /^(?:[0\W]*|[f\W]*)$/
/** The text is trimmed and in lower case. */
export const isPlaceholder = (text: string): boolean => placeholderIds.has(text) || blank.test(text)

/**
 * A stable id of this machine for one app: HMAC-SHA256 over the machine's own id, keyed with the app id, as 64 hex
 * digits. The raw id never leaves the machine, and two apps get unrelated ids. Throws `KeywardUsageError`
 * (`hwid_unavailable`) if the machine has no id of its own, and (`hwid_unreadable`) if it has one that three attempts
 * could not read: another source would give the machine another id.
 */
export async function defaultHwid(appId: string, machine: Machine = thisMachine()): Promise<string> {
  const id = await findMachineId(machine)
  if (id === undefined) {
    throw new KeywardUsageError(
      'hwid_unavailable',
      'This machine has no id of its own. Pass the option hwid, or null to send none.',
    )
  }
  return createHmac('sha256', `keyward-hwid-v1:${appId}`).update(id).digest('hex')
}

async function findMachineId(machine: Machine): Promise<string | undefined> {
  for (const [source, ask] of sources(machine)) {
    const id = (await readSource(ask)).trim().toLowerCase()
    if (!isPlaceholder(id) && !/^[0f-]*$/.test(id)) return `${source}:${id}`
  }
  return networkId(machine)
}

const attempts = 3
const pauseMs = 100

/** Returns an empty text if this machine does not have the source, or this user may never read it. */
async function readSource(ask: () => Promise<string>): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (cause) {
      const { code } = cause as { code?: unknown }
      if (typeof code === 'string' && absent.has(code)) return ''
      if (attempt === attempts) {
        const message = 'The id of this machine could not be read. Try again later, or pass the option hwid.'
        throw new KeywardUsageError('hwid_unreadable', message, { cause })
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

type Source = [name: string, ask: () => Promise<string>]

function sources(machine: Machine): Source[] {
  if (machine.platform === 'linux') {
    return linuxFiles.map(
      (path): Source => [path.endsWith('product_uuid') ? 'dmi' : 'machine-id', () => machine.read(path)],
    )
  }
  if (machine.platform === 'darwin') {
    const args = ['-rd1', '-c', 'IOPlatformExpertDevice']
    const ask = async () =>
      matched(await machine.run('/usr/sbin/ioreg', args), /"IOPlatformUUID" = "([^"]+)"/)
    return [['ioplatform', ask]]
  }
  if (machine.platform === 'win32') {
    const ask = async () => matched(await machine.run('reg.exe', machineGuidQuery), machineGuid)
    return [['machine-guid', ask]]
  }
  return [['hostid', () => machine.read('/etc/hostid')]]
}

function matched(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[1] ?? ''
}

/**
 * Fallback for containers and rare systems: the lowest MAC address and the host name. Software-assigned addresses
 * come last, because they change with every container and tunnel.
 */
function networkId({ macs, hostname }: Machine): string | undefined {
  const real = macs.map((mac) => mac.toLowerCase()).filter((mac) => mac !== '00:00:00:00:00:00')
  const burnedIn = real.filter((mac) => (Number.parseInt(mac.slice(0, 2), 16) & 2) === 0)
  const [lowest] = (burnedIn.length > 0 ? burnedIn : real).sort()
  return lowest === undefined ? undefined : `network:${lowest}:${hostname.toLowerCase()}`
}

export function thisMachine(): Machine {
  const cards = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return {
    platform: platform(),
    hostname: hostname(),
    system: platform() === 'win32' ? version() : `${type()} ${release()}`,
    macs: cards.filter((card) => !card.internal).map((card) => card.mac),
    read: (path) => readFile(path, 'utf8'),
    run: (file, args) =>
      new Promise((resolve, reject) => {
        const options = { timeout: 5_000, windowsHide: true, encoding: 'utf8' } as const
        // Use the full path: a program of the same name earlier in PATH could fake the answer.
        const path =
          file === 'reg.exe' ? `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\reg.exe` : file
        execFile(path, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)))
      }),
  }
}
