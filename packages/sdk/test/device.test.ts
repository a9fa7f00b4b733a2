import { type partNames, placeholderParts } from '@keyward/contract'
import { describe, expect, it } from 'vitest'
import { describeDevice, hashPart } from '../src/device.ts'
import type { Machine } from '../src/hwid.ts'

const appId = 'app12345'
const uuid = '11112222-3333-4444-5555-666677778888'

function machine(
  facts: Partial<Machine> & { files?: Record<string, string>; outputs?: Record<string, string> },
): Machine {
  const missing = () => Promise.reject(Object.assign(new Error('missing'), { code: 'ENOENT' }))
  return {
    platform: 'linux',
    hostname: 'Anvil',
    system: 'Linux 6.1',
    macs: [],
    read: async (path) => facts.files?.[path] ?? missing(),
    run: async (_file, args) => {
      const found = Object.entries(facts.outputs ?? {}).find(([word]) =>
        args.some((arg) => arg.includes(word)),
      )
      return found ? found[1] : missing()
    },
    ...facts,
  }
}
const hashes = (values: Partial<Record<(typeof partNames)[number], string>>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, hashPart(appId, name as 'disk', value)]),
  )

describe('describeDevice', () => {
  it('hashes the parts of Linux', async () => {
    const files = {
      '/etc/machine-id': '3D1219C7c4c5404aaa1f6d2a48adfda4\n',
      '/sys/class/dmi/id/product_uuid': uuid,
      '/sys/block/nvme0n1/device/serial': ' S4EWNX0R \n',
    }
    const macs = ['02:42:ac:11:00:02', '9C:00:00:00:00:02', '8c:00:00:00:00:01', '00:00:00:00:00:00']
    expect(await describeDevice(appId, machine({ files, macs }))).toEqual({
      name: 'Anvil',
      system: 'Linux 6.1',
      parts: hashes({
        machine: '3d1219c7c4c5404aaa1f6d2a48adfda4',
        board: uuid,
        disk: 's4ewnx0r',
        network: '8c:00:00:00:00:01',
      }),
    })
  })

  it('hashes the parts of Windows', async () => {
    const outputs = {
      Cryptography: `    MachineGuid    REG_SZ    ${uuid}\r\n`,
      HardwareConfig: '    LastConfig    REG_SZ    {4C4C4544-0042}\r\n',
      Scsi: '    SerialNumber    REG_SZ    S4EW NX0R\r\n\r\n    SerialNumber    REG_SZ    USB-1\r\n',
    }
    const { parts } = await describeDevice(appId, machine({ platform: 'win32', outputs }))
    expect(parts).toEqual(hashes({ machine: uuid, board: '{4c4c4544-0042}', disk: 's4ew nx0r' }))
  })

  it('never takes the next line for an empty serial number of Windows', async () => {
    const outputs = {
      Scsi: '    SerialNumber    REG_SZ    \r\n\r\nHKEY_LOCAL_MACHINE\\HARDWARE\\DEVICEMAP\r\n',
    }
    const { parts } = await describeDevice(appId, machine({ platform: 'win32', outputs }))
    expect(parts).toEqual({})
  })

  it('hashes the parts of macOS', async () => {
    const outputs = {
      IOPlatformExpertDevice: `"IOPlatformUUID" = "${uuid}"\n "IOPlatformSerialNumber" = "C02XL"\n`,
      IONVMeController: '"Serial Number" = "0ba01"\n',
    }
    const { parts } = await describeDevice(appId, machine({ platform: 'darwin', outputs }))
    expect(parts).toEqual(hashes({ machine: uuid, board: 'c02xl', disk: '0ba01' }))
  })

  it('leaves out what cannot be read', async () => {
    expect((await describeDevice(appId, machine({}))).parts).toEqual({})
    expect((await describeDevice(appId, machine({ platform: 'win32' }))).parts).toEqual({})
  })

  it.each(placeholderParts.map((text) => [text]))('leaves out the placeholder "%s"', async (text) => {
    const files = {
      '/etc/machine-id': text,
      '/sys/class/dmi/id/product_uuid': text.toUpperCase(),
      '/sys/block/sda/device/wwid': ` ${text}`,
    }
    const macs = /^..:/.test(text) ? [text] : []
    expect((await describeDevice(appId, machine({ files, macs }))).parts).toEqual({})
  })

  it('reads this machine without throwing', async () => {
    const { name, parts } = await describeDevice(appId)
    expect(name).not.toBe('')
    for (const hash of Object.values(parts ?? {})) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  })
})
