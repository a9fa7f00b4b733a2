// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeLicenses,
  makeType,
  refusal,
  registerUser,
  single,
  startProgram,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

type Change = (subject: { userId: string; keyId: string; firstId: string }) => Promise<unknown>
const pause: Change = ({ userId }) => owner.call('PATCH', `/clients/${userId}/toggle-pause`)
const banUser: Change = ({ userId }) => owner.call('PATCH', `/clients/${userId}/toggle-ban`)
const banKey: Change = ({ keyId }) => owner.call('PATCH', `/licenses/${keyId}/toggle-ban`)
const end = (id: string) => owner.call('PUT', `/licenses/${id}`, { expiresAt: '2001-01-01' })
const endKey: Change = ({ keyId }) => end(keyId)
const endUser: Change = ({ firstId }) => end(firstId)
const block: Change = () =>
  owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'address', value: '127.0.0.1' })

async function upgradeAfter(...changes: Change[]) {
  const { user, license } = await registerUser(on, owner, app)
  const added = single(await makeLicenses(on, owner, app, 1, 10))
  for (const change of changes) await change({ userId: user._id, keyId: added._id, firstId: license._id })
  const program = await startProgram(on, app)
  const upgrade = () => program.call('POST', '/upgrade', { username: 'alice', licenseKey: added.key })
  return { answer: await upgrade(), upgrade, user, added }
}

async function explained(reference: string) {
  const read = () => owner.call('GET', `/activity/${reference}`)
  await expect.poll(async () => (await read()).status).toBe(200)
  return (await read()).json.data
}

describe('an upgrade', () => {
  test.each<[string, string, Change[]]>([
    ['a banned key of a paused end user', 'keyBanned', [pause, banKey]],
    ['a banned key of a banned end user', 'userBanned', [banKey, banUser]],
    ['an ended key of a paused end user', 'pausedSub', [endKey, pause]],
    ['an ended key at a blocked address', 'noActiveSubs', [block, endKey]],
    ['a key of a banned end user at a blocked address', 'userBanned', [block, banUser]],
  ])('with %s reports %s, the first in the order of every call', async (_what, code, changes) => {
    const { answer } = await upgradeAfter(...changes)
    expect(refusal(answer)).toBe(code)
  })

  test.each<[string, string, Change]>([
    ['a banned end user', 'userBanned', banUser],
    ['a banned key', 'keyBanned', banKey],
    ['a paused end user', 'pausedSub', pause],
    ['a blocked address', 'hwidBlacklisted', block],
  ])('that is refused for %s tells what the key is worth, as other calls do', async (_what, code, change) => {
    const { answer, added } = await upgradeAfter(change)
    expect(refusal(answer)).toBe(code)
    expect(answer.json.details).toEqual({
      expiresAt: added.expiresAt,
      startedAt: null,
      devices: { used: 0, limit: 1 },
      seats: null,
      until: null,
    })
  })

  test('has no details if the key is unknown', async () => {
    const program = await startProgram(on, app)
    const unknown = await program.call('POST', '/upgrade', { username: 'alice', licenseKey: 'NO-SUCH-KEY' })
    expect(unknown.json).not.toHaveProperty('details')
  })

  test('judges the end of the key alone: an end user who has expired renews', async () => {
    const { answer } = await upgradeAfter(endUser)
    expect(answer.status).toBe(200)
    expect(answer.json.data.user.expiresAt).toBe(on.clock.inDays(10))
  })

  test('judges no version, device or seat of the end user', async () => {
    const type = await makeType(owner, app, { updatesForDays: 1, seats: 1 })
    const body = { app: app._id, type: type._id }
    const { key } = single<{ key: string }>((await owner.call('POST', '/licenses', body)).json.data.licenses)
    const added = single(await makeLicenses(on, owner, app, 1, 10))
    const first = await startProgram(on, app)
    expect((await first.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })).status).toBe(200)
    const release = { version: '1.0.0', releasedAt: on.clock.inDays(2) }
    on.clock.advance(3 * day)
    expect((await owner.call('POST', `/apps/${app._id}/releases`, release)).status).toBe(201)
    await owner.call('PUT', `/apps/${app._id}`, { settings: { requireHwid: true, requireActivation: true } })
    const second = await startProgram(on, app)
    expect(refusal(await second.call('POST', '/license', { licenseKey: key, hwid: 'pc-2' }))).toBe(
      'updatesEnded',
    )
    const upgrade = await second.call('POST', '/upgrade', { username: key, licenseKey: added.key })
    expect(upgrade.status).toBe(200)
  })

  test.each<[string, Change, (subject: { userId: string; keyId: string }) => object]>([
    ['a paused end user', pause, ({ userId }) => ({ action: 'resume_client', target: userId })],
    ['a banned end user', banUser, ({ userId }) => ({ action: 'unban_client', target: userId })],
    ['a banned key', banKey, ({ keyId }) => ({ action: 'unban_license', target: keyId })],
    ['an ended key', endKey, ({ keyId }) => ({ action: 'extend_license', target: keyId })],
  ])('of %s is explained with the click that helps', async (_what, change, fixOf) => {
    const { answer, user, added } = await upgradeAfter(change)
    const { event, explanation } = await explained(answer.json.reference)
    expect(explanation.fix).toMatchObject(fixOf({ userId: user._id, keyId: added._id }))
    expect([explanation.before.code, explanation.now.code]).toEqual([event.code, event.code])
    expect(event.client._id).toBe(user._id)
  })

  test('is explained by the checks that it makes, and may pass after the click', async () => {
    const { answer, user, upgrade } = await upgradeAfter(pause, endUser)
    const { explanation } = await explained(answer.json.reference)
    expect(explanation.before.checks.map(({ code }: { code: string }) => code)).toEqual([
      'appDisabled',
      'pausedApp',
      'userBanned',
      'keyBanned',
      'pausedSub',
      'noActiveSubs',
      'hwidBlacklisted',
      'vpnBlocked',
    ])
    await owner.call('PATCH', `/clients/${user._id}/toggle-pause`)
    expect((await explained(answer.json.reference)).explanation.now.code).toBe(null)
    expect((await upgrade()).status).toBe(200)
  })
})

describe('every refusal after the key was right', () => {
  const details = { devices: { used: expect.any(Number), limit: 1 }, expiresAt: expect.any(String) }

  test('of a lease names another machine than the one that signed in, in the usual order', async () => {
    const { program, user } = await activateKey(on, owner, app, 'pc-1')
    const lease = () => program.call('POST', '/lease', { hwid: 'pc-2' })
    const refused = await lease()
    expect([refusal(refused), refused.json.details]).toMatchObject(['hwidMismatch', details])
    const { explanation } = await explained(refused.json.reference)
    expect([explanation.why, explanation.fix]).toEqual([
      'The program named another device than the one that it signed in on.',
      null,
    ])
    await owner.call('PATCH', `/clients/${user._id}/toggle-pause`)
    expect(refusal(await lease())).toBe('pausedSub')
  })

  test('of a trial that has ended has details, and an earlier reason comes first', async () => {
    await makeType(owner, app, { trial: true, duration: { value: 3, unit: 'hours' } })
    const trial = async () => (await startProgram(on, app)).call('POST', '/trial', { hwid: 'pc-1' })
    const { user } = (await trial()).json.data
    on.clock.advance(day)
    const ended = await trial()
    expect([refusal(ended), ended.json.details]).toMatchObject(['trialUsed', details])
    const { explanation } = await explained(ended.json.reference)
    expect([explanation.before.code, explanation.now.code]).toEqual(['trialUsed', 'trialUsed'])
    const [license] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect(refusal(await trial())).toBe('trialUsed')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect(refusal(await trial())).toBe('userBanned')
  })

  test('of a new trial on a blocked machine offers to unblock it', async () => {
    await makeType(owner, app, { trial: true })
    const blocked = await owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'pc-1' })
    const answer = await (await startProgram(on, app)).call('POST', '/trial', { hwid: 'pc-1' })
    expect(refusal(answer)).toBe('hwidBlacklisted')
    expect(answer.json).not.toHaveProperty('details')
    const { explanation } = await explained(answer.json.reference)
    const target = blocked.json.data.block._id
    expect(explanation).toMatchObject({
      fix: { action: 'unblock', target },
      now: { code: 'hwidBlacklisted' },
    })
  })

  test('of `validate` for a key that an upgrade added offers to extend that key', async () => {
    const { added, answer } = await upgradeAfter()
    expect(answer.status).toBe(200)
    on.clock.advance(11 * day)
    const body = { appId: app.appId, licenseKey: added.key }
    const { data } = (await on.call('POST', '/client/validate', { body })).json
    expect(data.code).toBe('noActiveSubs')
    const { explanation } = await explained(data.reference)
    expect(explanation).toMatchObject({
      fix: { action: 'extend_license', target: added._id },
      now: { code: 'noActiveSubs' },
    })
  })
})
