import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { defaultHwid, type Machine } from '../src/hwid.ts'

const appId = 'app12345'

function machine(facts: Partial<Machine> & { files?: Record<string, string>; output?: string }): Machine {
  const missing = () => Promise.reject(Object.assign(new Error('missing'), { code: 'ENOENT' }))
  return {
    platform: 'linux',
    hostname: 'Anvil',
    system: 'Linux 6.1',
    macs: [],
    read: async (path) => facts.files?.[path] ?? missing(),
    run: async () => facts.output ?? missing(),
    ...facts,
  }
}

const expected = (id: string, app = appId) =>
  createHmac('sha256', `keyward-hwid-v1:${app}`).update(id).digest('hex')
const uuid = '11112222-3333-4444-5555-666677778888'

describe('defaultHwid', () => {
  it('hashes the machine id of Linux', async () => {
    const files = { '/etc/machine-id': '3D1219C7c4c5404aaa1f6d2a48adfda4\n' }
    expect(await defaultHwid(appId, machine({ files }))).toBe(
      expected('machine-id:3d1219c7c4c5404aaa1f6d2a48adfda4'),
    )
  })

  it.each(['', 'uninitialized\n', '00000000000000000000000000000000'])(
    'skips the unset machine id "%s"',
    async (unset) => {
      const files = { '/etc/machine-id': unset, '/sys/class/dmi/id/product_uuid': uuid }
      expect(await defaultHwid(appId, machine({ files }))).toBe(expected(`dmi:${uuid}`))
    },
  )

  it('hashes the platform id of macOS', async () => {
    const output = `  "IOPlatformUUID" = "${uuid.toUpperCase()}"\n`
    expect(await defaultHwid(appId, machine({ platform: 'darwin', output }))).toBe(
      expected(`ioplatform:${uuid}`),
    )
  })

  it('hashes the machine guid of Windows', async () => {
    const output = `\r\nHKEY_LOCAL_MACHINE\\...\r\n    MachineGuid    REG_SZ    ${uuid}\r\n`
    expect(await defaultHwid(appId, machine({ platform: 'win32', output }))).toBe(
      expected(`machine-guid:${uuid}`),
    )
  })

  it.each([
    ['no machine guid', ''],
    ['an empty one', '    MachineGuid    REG_SZ    \r\n'],
    ['another one beside it', '    OldMachineGuid    REG_SZ    0ld\r\n'],
  ])('falls back to the network on Windows with %s, never to what all machines have', async (_, value) => {
    const key = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography'
    const run = async (_: string, args: string[]) => {
      // Asked for a value that is missing, reg.exe ends with 1, as after every failure.
      if (args.includes('/v')) throw Object.assign(new Error('reg.exe'), { code: 1 })
      return `\r\n${key}\r\n${value}\r\n${key}\\Services\r\n`
    }
    const windows = { platform: 'win32', run }
    const macs = ['8c:00:00:00:00:01']
    expect(await defaultHwid(appId, machine({ ...windows, macs }))).toBe(
      expected('network:8c:00:00:00:00:01:anvil'),
    )
    await expect(defaultHwid(appId, machine(windows))).rejects.toMatchObject({ code: 'hwid_unavailable' })
  })

  it('says that the machine guid could not be read, and what to do', async () => {
    const run = () => Promise.reject(Object.assign(new Error('reg.exe'), { code: 1 }))
    const macs = ['8c:00:00:00:00:01']
    await expect(defaultHwid(appId, machine({ platform: 'win32', run, macs }))).rejects.toMatchObject({
      name: 'KeywardUsageError',
      code: 'hwid_unreadable',
      message: expect.stringContaining('pass the option hwid'),
    })
  })

  it('falls back to the lowest burned-in network address and the host name', async () => {
    const macs = ['02:42:ac:11:00:02', '9C:00:00:00:00:02', '00:00:00:00:00:00', '8c:00:00:00:00:01']
    expect(await defaultHwid(appId, machine({ macs }))).toBe(expected('network:8c:00:00:00:00:01:anvil'))
    const virtual = machine({ macs: ['02:42:ac:11:00:02'] })
    expect(await defaultHwid(appId, virtual)).toBe(expected('network:02:42:ac:11:00:02:anvil'))
  })

  it('throws on a machine without an identity instead of inventing a shared id', async () => {
    await expect(defaultHwid(appId, machine({}))).rejects.toMatchObject({
      name: 'KeywardUsageError',
      code: 'hwid_unavailable',
    })
  })

  it('reads a second and a third time, and never takes the next source instead', async () => {
    const busy = Object.assign(new Error('busy'), { code: 'EIO' })
    for (const failures of [2, 3]) {
      let reads = 0
      const read = async (path: string) => {
        if (path !== '/etc/machine-id') return uuid
        if (++reads <= failures) throw busy
        return '3d1219c7c4c5404aaa1f6d2a48adfda4'
      }
      const found = defaultHwid(appId, machine({ read }))
      if (failures === 2) {
        expect(await found).toBe(expected('machine-id:3d1219c7c4c5404aaa1f6d2a48adfda4'))
      } else {
        await expect(found).rejects.toMatchObject({
          name: 'KeywardUsageError',
          code: 'hwid_unreadable',
          cause: busy,
        })
      }
      expect(reads).toBe(3)
    }
  })

  it('takes the next source if this user may never read one', async () => {
    const read = async (path: string) =>
      Promise.reject(Object.assign(new Error(path), { code: path.includes('dmi') ? 'EACCES' : 'ENOENT' }))
    const macs = ['8c:00:00:00:00:01']
    expect(await defaultHwid(appId, machine({ read, macs }))).toBe(
      expected('network:8c:00:00:00:00:01:anvil'),
    )
  })

  it('derives different ids for two apps and never the raw one', async () => {
    const files = { '/etc/machine-id': uuid }
    const [one, two] = [
      await defaultHwid('app-one1', machine({ files })),
      await defaultHwid('app-two2', machine({ files })),
    ]
    expect(one).not.toBe(two)
    expect(one).not.toContain(uuid)
  })

  it('is stable across calls on a real machine', async () => {
    expect(await defaultHwid(appId)).toBe(await defaultHwid(appId))
  })
})
