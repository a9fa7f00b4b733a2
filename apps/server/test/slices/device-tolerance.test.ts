// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { PartName } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import type { ActionRecord } from '../../src/db/index.ts'
import { makeLicenses, refusal, single, startProgram } from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const published: ActionRecord[] = []
const on = serverForAll({}, { onRecords: (records) => published.push(...records) })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

interface Computer {
  hwid: string
  parts: { [Name in PartName]?: string }
}

const desktop: Computer = {
  hwid: 'machine-guid-1',
  parts: { machine: 'guid-1', board: 'uuid-1', disk: 'WD-1', network: '3c:52:82:00:00:01' },
}
/** A server without rights to read serial numbers of the board. */
const container: Computer = {
  hwid: 'machine-id-1',
  parts: { machine: 'id-1', board: 'uuid-9', disk: 'nvme-1', network: '' },
}
const change = (from: Computer, parts: Computer['parts'], hwid = from.hwid): Computer => ({
  hwid,
  parts: { ...from.parts, ...parts },
})

/** A license key and its sign-ins and validations from computers. */
async function licenseFor(devices = 1) {
  const license = single(await makeLicenses(on, owner, app))
  await setLicense(on, license, { devices })
  const sent = ({ hwid, parts }: Computer) => ({
    licenseKey: license.key,
    hwid,
    device: { name: 'PC', parts: sentParts(app, parts) },
  })
  const signIn = async (computer: Computer) => {
    const program = await startProgram(on, app)
    return { program, answer: await program.call('POST', '/license', sent(computer)) }
  }
  const validate = async (computer: Computer) =>
    (await on.call('POST', '/client/validate', { body: { appId: app.appId, ...sent(computer) } })).json.data
  return { license, signIn, validate }
}

const devicesOf = async () => {
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  return (await owner.call('GET', `/clients/${clients[0]._id}/devices`)).json.data.devices
}

/** What happens to honest users, and to second machines. */
const recorded: [what: string, first: Computer, then: Computer, passes: boolean][] = [
  ['the same computer', desktop, desktop, true],
  ['Windows reinstalled', desktop, change(desktop, { machine: 'guid-2' }, 'machine-guid-2'), true],
  ['a new network card', desktop, change(desktop, { network: '3c:52:82:00:00:99' }), true],
  ['a new disk with a copied system', desktop, change(desktop, { disk: 'WD-2' }), true],
  [
    'a new disk with a new system',
    desktop,
    change(desktop, { disk: 'WD-2', machine: 'guid-2' }, 'machine-guid-2'),
    false,
  ],
  ['a docking station', desktop, change(desktop, { network: 'ac:e2:d3:00:00:05' }), true],
  ['a laptop without network', desktop, change(desktop, { network: '' }), true],
  [
    'rights to read nothing but the system',
    desktop,
    { hwid: desktop.hwid, parts: { machine: 'guid-1' } },
    true,
  ],
  ['a container that was restarted', container, container, true],
  [
    'a container on the same host with a new id',
    container,
    change(container, { machine: 'id-2' }, 'machine-id-2'),
    false,
  ],
  [
    'a disk cloned into another computer',
    desktop,
    change(desktop, { board: 'uuid-2', disk: 'WD-2', network: '3c:52:82:00:00:02' }),
    false,
  ],
  [
    'an image with a shared machine-id on another computer',
    desktop,
    change(desktop, { board: 'uuid-3', disk: 'WD-3', network: '3c:52:82:00:00:03' }),
    false,
  ],
  [
    'a copied virtual machine with new ids of the hypervisor',
    desktop,
    change(desktop, { board: 'uuid-4', disk: 'VD-4', network: '00:0c:29:00:00:04' }),
    false,
  ],
  // Cannot be told apart: nothing differs that a new network card would not change too.
  [
    'a copied virtual machine with a new address only',
    desktop,
    change(desktop, { network: '00:0c:29:00:00:05' }),
    true,
  ],
  [
    'another computer of the same model',
    desktop,
    {
      hwid: 'machine-guid-7',
      parts: { machine: 'guid-7', board: 'uuid-7', disk: 'WD-7', network: '3c:52:82:00:00:07' },
    },
    false,
  ],
]

test.each(recorded)('%s', async (_what, first, later, passes) => {
  const { signIn, validate } = await licenseFor()
  expect((await signIn(first)).answer.status).toBe(200)
  const expected = passes ? { valid: true } : { valid: false, code: 'hwidMismatch' }
  expect(await validate(later)).toMatchObject(expected)
  const { program, answer } = await signIn(later)
  expect(answer.status).toBe(passes ? 200 : 403)
  if (passes) expect((await program.call('GET', '/session')).status).toBe(200)
  else expect(refusal(answer)).toBe('hwidMismatch')
  expect(await devicesOf()).toHaveLength(1)
})

const reinstalled = (at: number) => change(desktop, { machine: `guid-${at}` }, `machine-guid-${at}`)

test('a drifted device keeps its place, and the drift is recorded', async () => {
  const { signIn } = await licenseFor()
  await signIn(desktop)
  const [before] = await devicesOf()
  published.length = 0
  await signIn(reinstalled(2))
  const [after] = await devicesOf()
  expect(after).toMatchObject({ _id: before._id, firstSeenAt: before.firstSeenAt })
  expect(published.map(({ action, targetId }) => [action, targetId])).toContainEqual([
    'device.drifted',
    after._id,
  ])
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  expect(clients[0].hwid).toBe('machine-guid-2')
  expect(refusal((await signIn({ hwid: desktop.hwid, parts: {} })).answer)).toBe('hwidMismatch')
})

test('refuses a device that drifts more than five times within the cooldown', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceCooldownHours: 2 } })
  const { signIn, validate } = await licenseFor(3)
  await signIn(desktop)
  for (const at of [2, 3, 4, 5, 6]) expect((await signIn(reinstalled(at))).answer.status).toBe(200)
  const { answer } = await signIn(reinstalled(7))
  expect(refusal(answer)).toBe('hwidMismatch')
  const explain = () => owner.call('GET', `/activity/${answer.json.reference}`)
  await expect.poll(async () => (await explain()).status).toBe(200)
  expect((await explain()).json.data.explanation.why).toBe(
    'The device was recognized, but it changed too often within the cooldown of this application.',
  )
  expect(await validate(reinstalled(7))).toMatchObject({ code: 'hwidMismatch' })
  expect((await signIn(reinstalled(6))).answer.status).toBe(200)
  on.clock.advance(2 * hour)
  expect((await signIn(reinstalled(7))).answer.status).toBe(200)
  expect(await devicesOf()).toHaveLength(1)
})

test('compares whole ids only, while tolerance is off', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceTolerance: false } })
  const { signIn } = await licenseFor()
  await signIn(desktop)
  expect(refusal((await signIn(reinstalled(2))).answer)).toBe('hwidMismatch')
  const clone = change(desktop, { board: 'uuid-2', disk: 'WD-2', network: '3c:52:82:00:00:02' })
  expect((await signIn(clone)).answer.status).toBe(200)
})

test('two computers with one hardware id take two places', async () => {
  const clone = change(desktop, { board: 'uuid-2', disk: 'WD-2', network: '3c:52:82:00:00:02' })
  const { signIn, validate } = await licenseFor(2)
  const first = await signIn(desktop)
  const second = await signIn(clone)
  expect(second.answer.json.data.user.devices).toEqual({ used: 2, limit: 2 })
  for (const { program } of [first, second]) expect((await program.call('GET', '/session')).status).toBe(200)
  for (const computer of [desktop, clone]) {
    expect((await signIn(computer)).answer.json.data.user.devices.used).toBe(2)
    expect(await validate(computer)).toMatchObject({ valid: true })
  }
  const third = change(desktop, { board: 'uuid-3', disk: 'WD-3', network: '3c:52:82:00:00:03' })
  expect(refusal((await signIn(third)).answer)).toBe('hwidMismatch')
})

describe('parts that match nothing', () => {
  test.each<[string, Computer['parts']]>([
    ['empty ones', { machine: 'guid-1', board: '', disk: '', network: '' }],
    [
      'placeholders',
      {
        machine: 'guid-1',
        board: 'to be filled by o.e.m.',
        disk: 'default string',
        network: '00:00:00:00:00:00',
      },
    ],
    ['two equal ones', { machine: 'guid-1', board: 'uuid-1' }],
  ])('%s', async (_what, parts) => {
    const { signIn } = await licenseFor()
    await signIn({ hwid: 'a', parts })
    expect(refusal((await signIn({ hwid: 'b', parts })).answer)).toBe('hwidMismatch')
  })

  test("another end user's", async () => {
    const [one, other] = [await licenseFor(), await licenseFor()]
    await one.signIn(desktop)
    await other.signIn({ hwid: 'pc-2', parts: {} })
    expect(refusal((await other.signIn(desktop)).answer)).toBe('hwidMismatch')
  })

  test('texts that are no hashes', async () => {
    const program = await startProgram(on, app)
    const license = single(await makeLicenses(on, owner, app))
    for (const parts of [{ machine: 'guid-1' }, { machine: 'g'.repeat(64) }, { cpu: '' }]) {
      const body = { licenseKey: license.key, hwid: 'pc-1', device: { parts } }
      expect(refusal(await program.call('POST', '/license', body))).toBe('invalid_input')
    }
  })
})
