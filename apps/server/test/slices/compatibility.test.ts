// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { makeApp, makeLicenses, refusal, signUp, single, startProgram } from '../actors.ts'
import { makeOldApp, send, start12, turnOn } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const hwid = 'S-1-5-21-1004336348-1177238915-682003330-512'

describe('the settings', () => {
  test('are off at first, and what the owner leaves out is made', async () => {
    const app = await makeApp(owner)
    const path = `/apps/${app._id}/compatibility`
    const { data } = (await owner.call('GET', path)).json
    expect(data).toEqual({
      ...{ enabled: false, name: null, ownerId: null, secret: null, protocols: ['1.2', '1.3'] },
      ...{ publicKey: null, lastUsedAt: null, programs: 0 },
    })
    const made = await turnOn(owner, app)
    expect(made).toMatchObject({
      name: app.name,
      ownerId: expect.stringMatching(/^[0-9A-Za-z]{10}$/),
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect((await owner.call('PUT', path, { enabled: false })).json.data).toEqual({ ...made, enabled: false })
  })

  test('take what the owner copies, once on a server', async () => {
    const copied = { name: 'My App & Co', ownerId: 'Kw3nD0rId1', secret: 'ab'.repeat(32) }
    const { settings } = await makeOldApp(owner, copied)
    expect(settings).toMatchObject(copied)
    const stranger = await signUp(on)
    const app = await makeApp(stranger)
    const path = `/apps/${app._id}/compatibility`
    expect(refusal(await stranger.call('PUT', path, { enabled: true, ...copied }))).toBe(
      'compatibility_taken',
    )
    expect((await stranger.call('PUT', path, { enabled: true, ...copied, name: 'Other' })).status).toBe(200)
    for (const wrong of [{ ownerId: 'short' }, { secret: 'AB'.repeat(32) }, { protocols: ['1.2', '1.2'] }]) {
      expect(refusal(await stranger.call('PUT', path, { enabled: true, ...wrong }))).toBe('invalid_input')
    }
  })

  test('are sealed at rest, and recorded without secrets', async () => {
    const { app, settings } = await makeOldApp(owner)
    await turnOn(owner, app, { secret: 'cd'.repeat(32) })
    const row = await on.database.db
      .selectFrom('compatibility')
      .selectAll()
      .where('app_id', '=', app._id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(settings.secret)
    const { json } = await owner.call('GET', '/audit?action=app.compatibility_changed&limit=2')
    expect(json.data.records[0].detail).toMatchObject({ secretChanged: true, after: { enabled: true } })
    expect(JSON.stringify(json)).not.toContain('cdcdcd')
  })
})

describe('protocol 1.2', () => {
  test('opens a session, redeems a key and checks it, each answer signed', async () => {
    const { app, settings } = await makeOldApp(owner)
    const { key, expiresAt } = single(await makeLicenses(on, owner, app))
    const program = await start12(on, settings)
    expect(program.sessionid).toMatch(/^[0-9a-z]{32,}$/)
    expect(Object.values(program.opened.appinfo).map((value) => typeof value)).toEqual(
      Array.from({ length: 5 }, () => 'string'),
    )
    expect(await program.call('check')).toEqual({ success: false, message: 'Session is not authenticated' })
    const { info, ...answer } = await program.call('license', { key, hwid: `${hwid}\n` })
    expect(answer).toMatchObject({ success: true, message: 'Successfully logged in' })
    const end = Math.floor(Date.parse(expiresAt) / 1000)
    const now = Math.floor(on.clock.now() / 1000)
    const [subscription] = info.subscriptions
    expect(subscription).toEqual({
      ...{ subscription: 'default', key, expiry: String(end), timeleft: end - now, level: '1' },
    })
    expect(info).toMatchObject({ username: key, ip: '127.0.0.1', hwid })
    expect(info).toMatchObject({ createdate: String(now), lastlogin: String(now) })
    expect(await program.call('check')).toMatchObject({ success: true, message: 'Session is validated.' })
    const { json } = await owner.call('GET', `/apps/${app._id}/compatibility`)
    expect(json.data).toMatchObject({ programs: 1, lastUsedAt: new Date(on.clock.now()).toISOString() })
  })

  test('finds the app by its path, whatever name and owner id the program sends', async () => {
    const { app, settings } = await makeOldApp(owner)
    for (const id of [app.appId, app._id]) {
      const path = `/api/apps/${id}/1.2`
      const program = await start12(on, { ...settings, name: 'Taken', ownerId: 'x' }, { path })
      expect(await program.call('check')).toMatchObject({ success: false })
    }
  })

  test('is unknown while it is off, as is another app', async () => {
    const { app, settings } = await makeOldApp(owner, { protocols: ['1.3'] })
    const { name, ownerId } = settings
    const init = { type: 'init', name, ownerid: ownerId }
    expect((await send(on, init)).payload).toBe('KeyAuth_Invalid')
    expect((await send(on, { ...init, name: 'Other' }, { protocol: '1.3' })).payload).toBe('KeyAuth_Invalid')
    await turnOn(owner, app, { enabled: false })
    expect((await send(on, init, { protocol: '1.3' })).payload).toBe('KeyAuth_Invalid')
  })

  test('refuses with the text of the app, without characters that a shell reads, and the owner sees why', async () => {
    const { app, settings } = await makeOldApp(owner)
    const path = `/apps/${app._id}/error-messages`
    await owner.call('PATCH', path, { keyNotFound: 'No "key" & `calc` <b>%PATH%</b>' })
    await owner.call('PUT', path, { keyNotFound: 'No "key" & `calc` <b>%PATH%</b>' })
    const program = await start12(on, settings)
    const { success, message } = await program.call('license', { key: 'NO-SUCH-KEY', hwid })
    expect(success).toBe(false)
    expect(message).not.toMatch(/[&|<>^"`%\\]/)
    expect(message).toContain('key')
    await expect
      .poll(
        async () => (await owner.call('GET', `/activity?app=${app._id}&code=keyNotFound`)).json.data.events,
      )
      .toMatchObject([{ call: 'license', code: 'keyNotFound', subject: 'NO-SUCH-KEY', address: '127.0.0.1' }])
  })

  test('knows no session of another app, of another protocol, of our own, or one that was ended', async () => {
    const { app, settings } = await makeOldApp(owner)
    const other = await makeOldApp(owner)
    const { key } = single(await makeLicenses(on, owner, app))
    const program = await start12(on, settings)
    await program.call('license', { key, hwid })
    const own = await startProgram(on, app)
    const ask = async (sessionid: string, { name, ownerId } = settings, protocol = '1.2') =>
      (await send(on, { type: 'check', sessionid, name, ownerid: ownerId }, { protocol })).json
    for (const answer of [
      await ask(own.session),
      await ask('0'.repeat(120)),
      await ask(program.sessionid, other.settings),
      await ask(program.sessionid, settings, '1.1'),
    ]) {
      expect(answer).toMatchObject({ success: false, message: expect.stringMatching(/^Session not found\./) })
    }
    const ours = { token: program.sessionid, headers: { 'keyward-app': app.appId } }
    expect((await on.call('GET', '/client/session', ours)).status).toBe(401)
    expect(await program.call('logout')).toMatchObject({ success: true })
    expect(await program.call('check')).toMatchObject({
      message: expect.stringMatching(/^Session not found\./),
    })
  })
})
