import { createHmac } from 'node:crypto'
import { isPlaceholder, type Machine, machineGuid, machineGuidQuery, thisMachine } from './hwid.ts'
import type { DeviceDescription } from './types.ts'

type PartName = keyof NonNullable<DeviceDescription['parts']>

/**
 * The name, the system and salted hashes of parts of this machine, so that the server recognizes it when its hardware id
 * changes. What cannot be read is left out. Serial numbers never leave the machine unhashed.
 */
export async function describeDevice(
  appId: string,
  machine: Machine = thisMachine(),
): Promise<DeviceDescription> {
  const values = await readParts(machine)
  const parts = Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, value.trim().toLowerCase()] as const)
      .filter(([, value]) => !isPlaceholder(value))
      .map(([name, value]) => [name, hashPart(appId, name as PartName, value)]),
  )
  return { name: machine.hostname.slice(0, 256), system: machine.system.slice(0, 256), parts }
}

/** The salted hash of a part: `value` is trimmed and in lower case. */
export const hashPart = (appId: string, name: PartName, value: string): string =>
  createHmac('sha256', `keyward-part-v1:${appId}:${name}`).update(value).digest('hex')

type Values = Record<PartName, string>

async function readParts(machine: Machine): Promise<Values> {
  const network = lowestBurnedIn(machine.macs)
  const readers = partReaders(machine)
  const [id, board, disk] = await Promise.all(
    [readers.machine, readers.board, readers.disk].map((read) => firstOf(read)),
  )
  return { machine: id ?? '', board: board ?? '', disk: disk ?? '', network }
}

type Reader = () => Promise<string>

async function firstOf(readers: Reader[]): Promise<string> {
  for (const read of readers) {
    const value = (await read().catch(() => '')).trim()
    if (value !== '') return value
  }
  return ''
}

const linuxDisks = [
  '/sys/block/nvme0n1/device/serial',
  '/sys/block/sda/device/wwid',
  '/sys/block/vda/serial',
  '/sys/block/mmcblk0/device/cid',
]

function partReaders(machine: Machine): Record<'machine' | 'board' | 'disk', Reader[]> {
  const files = (...paths: string[]) => paths.map((path) => () => machine.read(path))
  const found = (file: string, args: string[], pattern: RegExp) => [
    async () => pattern.exec(await machine.run(file, args))?.[1] ?? '',
  ]
  switch (machine.platform) {
    case 'linux':
      return {
        machine: files('/etc/machine-id', '/var/lib/dbus/machine-id'),
        board: files(
          '/sys/class/dmi/id/product_uuid',
          '/sys/class/dmi/id/board_serial',
          '/sys/firmware/devicetree/base/serial-number',
        ),
        disk: files(...linuxDisks),
      }
    case 'darwin': {
      const ioreg = (device: string, pattern: RegExp) =>
        found('/usr/sbin/ioreg', ['-rd1', '-c', device], pattern)
      return {
        machine: ioreg('IOPlatformExpertDevice', /"IOPlatformUUID" = "([^"]+)"/),
        board: ioreg('IOPlatformExpertDevice', /"IOPlatformSerialNumber" = "([^"]+)"/),
        disk: ioreg('IONVMeController', /"Serial Number" = "([^"]+)"/),
      }
    }
    case 'win32': {
      const query = (key: string, value: string, ...more: string[]) =>
        found(
          'reg.exe',
          ['query', key, ...more, '/v', value],
          new RegExp(`${value}[ \\t]+REG_SZ[ \\t]+(\\S.*)`),
        )
      return {
        machine: found('reg.exe', machineGuidQuery, machineGuid),
        board: query('HKEY_LOCAL_MACHINE\\SYSTEM\\HardwareConfig', 'LastConfig'),
        disk: query('HKEY_LOCAL_MACHINE\\HARDWARE\\DEVICEMAP\\Scsi', 'SerialNumber', '/s'),
      }
    }
    default:
      return { machine: files('/etc/hostid'), board: [], disk: [] }
  }
}

/** Software-assigned addresses change with every container and tunnel. */
function lowestBurnedIn(macs: readonly string[]): string {
  const burnedIn = macs
    .map((mac) => mac.toLowerCase())
    .filter((mac) => (Number.parseInt(mac.slice(0, 2), 16) & 2) === 0 && !isPlaceholder(mac))
  return burnedIn.sort()[0] ?? ''
}
