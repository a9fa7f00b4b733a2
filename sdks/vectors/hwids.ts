import { createHmac } from 'node:crypto'

interface PartCase {
  name: string
  appId: string
  part: string
  /** Trimmed and in lower case. */
  value: string
  hash: string
}

interface HwidCase {
  name: string
  appId: string
  /** The machine's identity as `source:id`, trimmed and in lower case. */
  machine: string
  hwid: string
}

export const hwids: HwidCase[] = [
  ['Linux', 'k3yw4rd1', 'machine-id:3d1219c7c4c5404aaa1f6d2a48adfda4'],
  ['Linux without a machine id', 'k3yw4rd1', 'dmi:11112222-3333-4444-5555-666677778888'],
  ['macOS', 'k3yw4rd1', 'ioplatform:11112222-3333-4444-5555-666677778888'],
  ['Windows', 'k3yw4rd1', 'machine-guid:11112222-3333-4444-5555-666677778888'],
  ['another system', 'k3yw4rd1', 'hostid:a8c06401'],
  ['a machine with nothing but a network card', 'k3yw4rd1', 'network:8c:00:00:00:00:01:anvil'],
  ['the same machine for another app', 'an0therx', 'machine-guid:11112222-3333-4444-5555-666677778888'],
].map(([name, appId, machine]) => ({
  name: name!,
  appId: appId!,
  machine: machine!,
  hwid: toHwid(appId!, machine!),
}))

interface SourceCase {
  name: string
  appId: string
  platform: 'linux' | 'darwin' | 'win32' | 'other'
  /** By path, or by the name of the source where it is no file. A file that is not named is missing. */
  files: Record<string, string | { error: string; times?: number; text?: string }>
  macs: string[]
  hostname: string
  hwid?: string
  error?: 'hwid_unavailable' | 'hwid_unreadable'
}

const machineId = '/etc/machine-id'
const dbus = '/var/lib/dbus/machine-id'
const dmi = '/sys/class/dmi/id/product_uuid'
const id = '3d1219c7c4c5404aaa1f6d2a48adfda4'
const uuid = '11112222-3333-4444-5555-666677778888'
const filler = '03000200-0400-0500-0006-000700080009'

const source = (
  name: string,
  machine: string | { error: SourceCase['error'] },
  files: SourceCase['files'],
  { platform = 'linux', macs = [], hostname = 'Anvil' }: Partial<SourceCase> = {},
): SourceCase => ({
  name,
  appId: 'k3yw4rd1',
  platform,
  files,
  macs,
  hostname,
  ...(typeof machine === 'string' ? { hwid: toHwid('k3yw4rd1', machine) } : machine),
})
const none = { error: 'hwid_unavailable' } as const
const unreadable = { error: 'hwid_unreadable' } as const
const [burnedIn, later, local] = ['8c:00:00:00:00:01', '9C:00:00:00:00:02', '02:42:ac:11:00:02']

export const sources: SourceCase[] = [
  source('the machine id comes first', `machine-id:${id}`, { [machineId]: id, [dbus]: uuid, [dmi]: uuid }),
  source('it is trimmed and in lower case', `machine-id:${id}`, { [machineId]: ` ${id.toUpperCase()}\r\n` }),
  source('the id of D-Bus is the second', `machine-id:${id}`, { [dbus]: id, [dmi]: uuid }),
  source('the id of the board is the third', `dmi:${uuid}`, { [dmi]: `${uuid.toUpperCase()}\n` }),
  ...[
    '',
    '\n',
    'uninitialized\n',
    '0'.repeat(32),
    'F'.repeat(32),
    '00000000-0000-0000-0000-000000000000',
    filler,
    'To be filled by O.E.M.\n',
    'Default string',
    ' NONE ',
    'None',
    '0',
    'Unknown',
    'SSN12345678901234567',
    '00112233-4455-6677-8899-aabbccddeeff',
    '00:00:00:00',
    '{FFFFFFFF-FFFF}',
  ].map((text) => source(`"${text.trim()}" is no id`, `dmi:${uuid}`, { [machineId]: text, [dmi]: uuid })),
  source('an id of zeros and f together is no id', `dmi:${uuid}`, { [machineId]: '0f0f-f0f0', [dmi]: uuid }),
  source('a file that this user may not read is no source', `dmi:${uuid}`, {
    [machineId]: { error: 'EACCES' },
    [dbus]: { error: 'EPERM' },
    [dmi]: uuid,
  }),
  source('a file that fails twice is read a third time', `machine-id:${id}`, {
    [machineId]: { error: 'EIO', times: 2, text: id },
    [dmi]: uuid,
  }),
  source('a file that fails three times ends the search', unreadable, {
    [machineId]: { error: 'EIO' },
    [dmi]: uuid,
  }),
  source('a second source that fails three times ends it too', unreadable, {
    [dbus]: { error: 'EIO' },
    [dmi]: uuid,
  }),
  source('a source after the first id is never read', `machine-id:${id}`, {
    [machineId]: id,
    [dmi]: { error: 'EIO' },
  }),
  source('the network is the last resort', `network:${burnedIn}:anvil`, {}, { macs: [later, burnedIn] }),
  source(
    'a software-assigned address comes after burned-in ones',
    `network:${burnedIn}:anvil`,
    {},
    { macs: [local, burnedIn] },
  ),
  source('a software-assigned address is better than none', `network:${local}:anvil`, {}, { macs: [local] }),
  source('an address of zeros is no address', none, {}, { macs: ['00:00:00:00:00:00'] }),
  source('addresses are in lower case', 'network:9c:00:00:00:00:02:anvil', {}, { macs: [later] }),
  source('a machine without any source has no id', none, {}),
  source(
    'the id of macOS',
    `ioplatform:${uuid}`,
    { ioplatform: uuid.toUpperCase(), [machineId]: id },
    { platform: 'darwin' },
  ),
  source('macOS without its id', `network:${burnedIn}:anvil`, {}, { platform: 'darwin', macs: [burnedIn] }),
  source(
    'the id of Windows',
    `machine-guid:${uuid}`,
    { 'machine-guid': uuid.toUpperCase() },
    { platform: 'win32' },
  ),
  source(
    'the filler of Windows',
    `network:${burnedIn}:anvil`,
    { 'machine-guid': filler },
    { platform: 'win32', macs: [burnedIn] },
  ),
  source('Windows without its id', `network:${burnedIn}:anvil`, {}, { platform: 'win32', macs: [burnedIn] }),
  source(
    'Windows with an empty id',
    `network:${burnedIn}:anvil`,
    { 'machine-guid': '' },
    { platform: 'win32', macs: [burnedIn] },
  ),
  source('Windows without its id and without a network', none, {}, { platform: 'win32' }),
  source(
    'Windows whose id cannot be read',
    unreadable,
    { 'machine-guid': { error: 'EIO' } },
    { platform: 'win32', macs: [burnedIn] },
  ),
  source(
    'another system',
    'hostid:a8c06401',
    { '/etc/hostid': 'A8C06401\n', [machineId]: id },
    { platform: 'other' },
  ),
]

function toHwid(appId: string, machine: string): string {
  return createHmac('sha256', `keyward-hwid-v1:${appId}`).update(machine).digest('hex')
}

export const parts: PartCase[] = [
  ['the id of the system', 'k3yw4rd1', 'machine', '3d1219c7c4c5404aaa1f6d2a48adfda4'],
  ['the board', 'k3yw4rd1', 'board', '11112222-3333-4444-5555-666677778888'],
  ['the disk', 'k3yw4rd1', 'disk', 'wd-wcc4e5zxn3kl'],
  ['a network card', 'k3yw4rd1', 'network', '8c:00:00:00:00:01'],
  ['the same value as another part', 'k3yw4rd1', 'disk', '8c:00:00:00:00:01'],
  ['the same part for another app', 'an0therx', 'disk', 'wd-wcc4e5zxn3kl'],
].map(([name, appId, part, value]) => ({
  name: name!,
  appId: appId!,
  part: part!,
  value: value!,
  hash: createHmac('sha256', `keyward-part-v1:${appId}:${part}`).update(value!).digest('hex'),
}))
