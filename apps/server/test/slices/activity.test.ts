// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { tidyActivity } from '../../src/modules/activity/activity.service.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  type Owner,
  refusal,
  registerUser,
  signUp,
  single,
  startProgram,
} from '../actors.ts'
import { appForEach, ownerForAll, ownerForEach, serverForAll, tidyUp } from '../fixtures.ts'
import { startServer, transactionsOn } from '../harness.ts'
import { addMember } from '../member-actor.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)
const other = ownerForAll(on)

const list = async (query = '', by: Owner = owner) => (await by.call('GET', `/activity${query}`)).json.data
const kinds = async (query = '') =>
  (await list(query)).events.map(({ kind, code }: Record<string, string>) => code ?? kind)
const stored = (expected: string[], query = '') => expect.poll(() => kinds(query)).toEqual(expected)
const explain = async (reference: string) => (await owner.call('GET', `/activity/${reference}`)).json.data
const validate = (licenseKey: string, hwid?: string) =>
  on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey, hwid } })

test('lists what a program did, newest first, with end user, call and address', async () => {
  const { program, user, license } = await activateKey(on, owner, app)
  on.clock.advance(1)
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
  const refused = await program.call('GET', '/session', undefined, { from: '203.0.113.7' })
  await stored(['userBanned', 'end_user.registered', 'init'])
  const [first] = (await list()).events
  expect(first).toEqual({
    reference: refused.json.reference,
    kind: 'refused',
    app: { _id: app._id, name: app.name, appId: app.appId },
    client: { _id: user._id, username: license.key, name: null },
    call: 'session',
    code: 'userBanned',
    subject: null,
    address: '203.0.113.7',
    times: 1,
    gathered: false,
    at: on.clock.inDays(0),
    lastAt: on.clock.inDays(0),
  })
})

test("an unknown, another app's and another owner's end user are the same 404", async () => {
  const { user } = await registerUser(on, owner, app)
  await stored(['end_user.registered', 'init'], `?app=${app._id}`)
  expect((await list(`?client=${user._id}&app=${app._id}`)).events).toHaveLength(1)
  const otherApp = await makeApp(owner, 'Borealis')
  for (const [by, query] of [
    [owner, '?client=usr_none'],
    [owner, `?client=${user._id}&app=${otherApp._id}`],
    [other, `?client=${user._id}`],
  ] as const) {
    expect(refusal(await by.call('GET', `/activity${query}`))).toBe('not_found')
  }
})

test('every refusal has a reference, and details only after the password or the key was right', async () => {
  const { program, license, user } = await registerUser(on, owner, app)
  const login = { username: 'alice', password: 'swordfish', hwid: 'pc-1' }
  await program.call('POST', '/login', login)
  await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(0) })
  const answers = [
    await program.call('POST', '/login', { ...login, username: 'bob' }),
    await program.call('POST', '/login', { ...login, password: 'wrong' }),
    await program.call('POST', '/license', { licenseKey: 'NO-SUCH-KEY' }),
    await program.call('POST', '/license', { licenseKey: license.key }),
    await on.call('POST', '/client/init', { body: { appId: app.appId, secret: 'wrong', version: '1.0.0' } }),
    await on.call('GET', '/client/session', { headers: { 'keyward-app': app.appId } }),
  ]
  for (const answer of answers) {
    expect(answer.json.reference).toMatch(/^[0-9A-Z]{10}$/)
    expect(answer.json).not.toHaveProperty('details')
  }
  const resumed = await program.call('POST', '/resume', { deviceToken: 'kwd_ended', hwid: 'pc-1' })
  expect(refusal(resumed)).toBe('sessionUnauthed')
  const explainResumed = () => owner.call('GET', `/activity/${resumed.json.reference}`)
  await expect.poll(async () => (await explainResumed()).status).toBe(200)
  expect((await explainResumed()).json.data.explanation.why).toContain('A remembered sign-in also ends')
  const ended = await program.call('POST', '/login', login)
  expect(refusal(ended)).toBe('noActiveSubs')
  expect(ended.json.details).toMatchObject({ expiresAt: on.clock.inDays(0), startedAt: null })
  const unknown = await validate('NO-SUCH-KEY')
  expect(unknown.json.data).toEqual({
    activated: false,
    valid: false,
    code: 'keyNotFound',
    license: null,
    reference: expect.any(String),
  })
  const invalid = await validate(license.key)
  expect(invalid.json.data).toMatchObject({
    code: 'noActiveSubs',
    details: { expiresAt: on.clock.inDays(0) },
  })
  await expect.poll(async () => (await list(`?client=${user._id}&code=passMismatch`)).events).toHaveLength(1)
  // An unknown app has no owner who could look the reference up.
  const nobody = await on.call('POST', '/client/init', {
    body: { appId: 'ZZZZZZZZ', secret: 'x', version: '1' },
  })
  expect(nobody.json).not.toHaveProperty('reference')
})

test('filters by app, end user, reason and time, and pages', async () => {
  const second = await makeApp(owner, 'Borealis')
  const { user } = await activateKey(on, owner, app)
  for (let at = 0; at < 3; at += 1) await validate(`NO-SUCH-KEY-${at}`)
  await startProgram(on, second)
  await expect.poll(async () => (await list()).pagination.total).toBe(6)
  expect(await kinds(`?app=${second._id}`)).toEqual(['init'])
  expect(await kinds(`?client=${user._id}`)).toEqual(['end_user.registered'])
  expect(await kinds('?code=keyNotFound')).toEqual(Array(3).fill('keyNotFound'))
  expect(await kinds('?code=any')).toEqual(Array(3).fill('keyNotFound'))
  expect(await kinds('?code=userBanned')).toEqual([])
  const today = on.clock.inDays(0).slice(0, 10)
  expect((await list(`?from=${today}&to=${today}`)).pagination.total).toBe(6)
  expect((await list(`?from=${on.clock.inDays(1)}`)).pagination.total).toBe(0)
  expect((await list(`?to=${on.clock.inDays(-1)}`)).pagination.total).toBe(0)
  const { events, pagination } = await list('?page=2&limit=4')
  expect([events.length, pagination]).toEqual([2, { page: 2, limit: 4, total: 6, pages: 2 }])
  expect((await list('', other)).events).toEqual([])
  expect(refusal(await other.call('GET', `/activity?app=${app._id}`))).toBe('not_found')
})

test('repetitions within a minute share a reference and are counted', async () => {
  const references = new Set<string>()
  for (let at = 0; at < 20; at += 1) references.add((await validate('NO-SUCH-KEY')).json.data.reference)
  expect(references.size).toBe(1)
  await stored(['keyNotFound'])
  on.clock.advance(60_000)
  await validate('NO-SUCH-KEY')
  await stored(['keyNotFound', 'keyNotFound'])
  await expect.poll(async () => (await list()).events.at(-1).times).toBe(20)
})

test('a refused key is explained with that key and its end user, also where the call names a user', async () => {
  const { program, license, user } = await registerUser(on, owner, app, 'anna')
  const oneMore = async () => single(await makeLicenses(on, owner, app))
  const reasonOf = async (call: Promise<{ json: { reference: string } }>) => {
    const { reference } = (await call).json
    await expect.poll(async () => (await owner.call('GET', `/activity/${reference}`)).status).toBe(200)
    const { event, explanation } = await explain(reference)
    return [explanation.why, event.client?._id ?? null]
  }
  const used = [`The license ${license.key} belonged to an end user already.`, user._id]
  const upgrade = (licenseKey: string) => program.call('POST', '/upgrade', { username: 'anna', licenseKey })
  const register = (licenseKey: string) =>
    program.call('POST', '/register', { username: 'berta', password: 'swordfish', licenseKey })
  expect(await reasonOf(upgrade(license.key))).toEqual(used)
  expect(await reasonOf(register(license.key))).toEqual(used)
  expect(await reasonOf(program.call('POST', '/license', { licenseKey: license.key }))).toEqual(used)
  const unknown = ['This application had no license NO-SUCH-KEY.', null]
  expect(await reasonOf(upgrade('NO-SUCH-KEY'))).toEqual(unknown)
  expect(await reasonOf(register('NO-SUCH-KEY'))).toEqual(unknown)
  const [ended] = await makeLicenses(on, owner, app, 1, 1)
  on.clock.advance(2 * day)
  const late = await startProgram(on, app)
  const { reference } = (await late.call('POST', '/upgrade', { username: 'anna', licenseKey: ended?.key }))
    .json
  await stored(['noActiveSubs'], '?code=noActiveSubs')
  expect((await explain(reference)).event.subject).toBe(ended?.key)
  await owner.call('PATCH', `/clients/${user._id}/toggle-pause`)
  const paused = late.call('POST', '/upgrade', { username: 'anna', licenseKey: (await oneMore()).key })
  expect(await reasonOf(paused)).toEqual([
    'You had paused this end user. The remaining time is kept.',
    user._id,
  ])
})

test('explains that access ended because the license was deleted', async () => {
  const { program, license } = await activateKey(on, owner, app, 'pc-1')
  await owner.call('DELETE', `/licenses/${license._id}`)
  const { reference } = (await program.call('GET', '/session')).json
  await stored(['noActiveSubs'], '?code=noActiveSubs')
  const at = on.clock.inDays(0).slice(0, 16).replace('T', ' ')
  expect((await explain(reference)).explanation.why).toBe(
    `Access ended on ${at} UTC. The end user had no license, or it was deleted.`,
  )
  const other = await activateKey(on, owner, app, 'pc-2')
  await owner.call('PUT', `/licenses/${other.license._id}`, { expiresAt: on.clock.inDays(-1) })
  const { reference: second } = (await other.program.call('GET', '/session')).json
  await stored(['noActiveSubs', 'noActiveSubs'], '?code=noActiveSubs')
  expect((await explain(second)).explanation.why).toBe(`Access ended on ${at} UTC.`)
})

test('refusals of one minute with different causes have references of their own', async () => {
  const { program, license } = await activateKey(on, owner, app, 'pc-1')
  const refuse = async (hwid?: string) =>
    (await program.call('POST', '/license', { licenseKey: license.key, hwid })).json.reference
  const [other, none] = [await refuse('pc-2'), await refuse()]
  expect(await refuse('pc-2')).toBe(other)
  await expect.poll(async () => (await owner.call('GET', `/activity/${none}`)).status).toBe(200)
  expect((await explain(none)).explanation).toMatchObject({
    why: 'The program sent no hardware id, but the license is bound to a device.',
    advice: 'Let the program send the hardware id of its device.',
  })
  expect((await explain(other)).explanation.why).toBe(
    'The license was bound to 1 of 1 device, and this was not one of them.',
  )
})

test('a reference explains what was refused and why, then and now, and its fix lets the program in', async () => {
  const { program, license, user } = await activateKey(on, owner, app, 'pc-1')
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: true, reason: 'charged back' })
  const { reference } = (await program.call('GET', '/session')).json
  await stored(['userBanned', 'end_user.registered', 'device.bound', 'init'])
  const { event, explanation } = await explain(`${reference.slice(0, 5).toLowerCase()}-${reference.slice(5)}`)
  expect(event.reference).toBe(reference)
  expect(explanation).toMatchObject({
    title: 'The end user was banned',
    why: 'You had banned this end user. Your reason: charged back.',
    fix: { action: 'unban_client', target: user._id, value: null },
    before: { code: 'userBanned', expiresAt: license.expiresAt },
    now: { code: 'userBanned' },
  })
  expect(explanation.before.checks.slice(0, 4)).toEqual([
    { code: 'appDisabled', passed: true },
    { code: 'pausedApp', passed: true },
    { code: 'userBanned', passed: false },
    { code: 'keyBanned', passed: true },
  ])
  await owner.call('PATCH', `/clients/${explanation.fix.target}/toggle-ban`, { is_banned: false })
  const after = (await explain(reference)).explanation
  expect([after.before.code, after.now.code]).toEqual(['userBanned', null])
  await owner.call('DELETE', `/clients/${user._id}`)
  expect((await explain(reference)).explanation.now).toBeNull()
})

test('a blocked address, another device and a wrong build name what a click would change', async () => {
  const { license, user } = await activateKey(on, owner, app, 'pc-1')
  const mismatch = (await validate(license.key, 'pc-2')).json.data.reference
  const added = await owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'pc-1' })
  const blocked = (await validate(license.key, 'pc-1')).json.data.reference
  await owner.call('PUT', `/apps/${app._id}`, { settings: { checkHash: true } })
  const hashes = [{ version: '1.0.0', hash: 'a'.repeat(64) }]
  await owner.call('PUT', `/apps/${app._id}/program-hashes`, { hashes })
  const body = { appId: app.appId, secret: app.appSecret, version: '1.0.1', hash: 'b'.repeat(64) }
  const build = (await on.call('POST', '/client/init', { body })).json.reference
  await expect.poll(async () => (await list('?code=any')).events).toHaveLength(3)
  const fixes = await Promise.all(
    [mismatch, blocked, build].map(async (one) => (await explain(one)).explanation.fix),
  )
  expect(fixes).toEqual([
    { action: 'reset_hwid', target: user._id, value: null },
    { action: 'unblock', target: added.json.data.block._id, value: null },
    { action: 'allow_hash', target: app._id, value: JSON.stringify(['1.0.1', 'b'.repeat(64)]) },
  ])
})

test("another owner's reference is not found, like one that never existed", async () => {
  const { reference } = (await validate('NO-SUCH-KEY')).json.data
  await stored(['keyNotFound'])
  const theirs = await other.call('GET', `/activity/${reference}`)
  const none = await other.call('GET', '/activity/0000000000')
  expect([refusal(theirs), refusal(none)]).toEqual(['not_found', 'not_found'])
  expect(theirs.raw.toString()).toBe(none.raw.toString())
})

test('keeps events as long as the app says, and not longer', async () => {
  await validate('NO-SUCH-KEY')
  await stored(['keyNotFound'])
  const age = (days: number) =>
    on.database.db
      .updateTable('activity')
      .set({ created_at: on.clock.now() - days * day })
      .where('app_id', '=', app._id)
      .execute()
  await age(400)
  await owner.call('PUT', `/apps/${app._id}`, { settings: { activityDays: 730 } })
  await tidyUp(on)
  expect(await kinds()).toEqual(['keyNotFound'])
  await owner.call('PUT', `/apps/${app._id}`, { settings: { activityDays: 365 } })
  await tidyUp(on)
  expect(await kinds()).toEqual([])
})

test('each kind of event is cut to its newest ones, and a deleted app leaves none', async () => {
  const { program } = await activateKey(on, owner, app)
  await program.call('GET', '/session')
  for (let at = 0; at < 30; at += 1) await validate(`NO-SUCH-KEY-${at}`)
  await expect.poll(async () => (await list()).pagination.total).toBe(32)
  const { database, clock } = on
  const ctx = { clock, db: database.db, tx: transactionsOn(database, clock) }
  const most = { init: 1, refusals: 10, sign_ins: 1, logs: 1, other: 1 }
  await tidyActivity(ctx, most)
  const { events } = await list('?code=any')
  expect(events.map(({ subject }: { subject: string }) => subject).sort()).toEqual(
    Array.from({ length: 10 }, (_, at) => `NO-SUCH-KEY-${at + 20}`),
  )
  expect((await kinds()).slice(10).sort()).toEqual(['end_user.registered', 'init'])
  const rows = () => database.db.selectFrom('activity').select('seq').where('app_id', '=', app._id).execute()
  await owner.call('DELETE', `/apps/${app._id}`)
  expect(await rows()).toEqual([])
  await tidyActivity(ctx, most)
  const counts = database.db.selectFrom('activity_shares').select('n').where('app_id', '=', app._id)
  expect(await counts.execute()).toEqual([])
})

test('a flood of starts from one network fills 51 rows, and removes neither a refusal nor a sign-in', async () => {
  const { license } = await activateKey(on, owner, app)
  await (await startProgram(on, app)).call('POST', '/license', { licenseKey: license.key })
  await validate('NO-SUCH-KEY')
  for (let at = 0; at < 300; at += 1) {
    const body = { appId: app.appId, secret: app.appSecret, version: `9.0.${at}` }
    await on.call('POST', '/client/init', { body, from: `203.0.113.${at % 250}` })
  }
  await owner.call('PUT', `/apps/${app._id}`, { settings: { checkHash: true } })
  const hashes = [{ version: '1.0.0', hash: 'a'.repeat(64) }]
  await owner.call('PUT', `/apps/${app._id}/program-hashes`, { hashes })
  for (let at = 0; at < 300; at += 1) {
    const body = { appId: app.appId, secret: app.appSecret, version: `9.1.${at}` }
    await on.call('POST', '/client/init', { body, from: `203.0.113.${at % 250}` })
  }
  on.clock.advance(60_000)
  await validate('ANOTHER-KEY')
  const inits = async () =>
    (await list('?limit=200')).events.filter(
      ({ kind, call }: Record<string, string>) => (call ?? kind) === 'init',
    )
  const gathered = async () => (await inits()).filter((event: { gathered: boolean }) => event.gathered)
  await expect.poll(async () => (await gathered()).length).toBe(2)
  await expect
    .poll(async () => (await gathered()).map(({ times }: { times: number }) => times))
    .toEqual([300, 250])
  expect(await inits()).toHaveLength(53)
  const [refused] = await gathered()
  expect(refused).toMatchObject({
    address: '203.0.113.0/24',
    subject: null,
    client: null,
    code: 'hashCheckFail',
  })
  const { explanation } = await explain(refused.reference)
  expect(explanation.why).toBe(
    'So many calls of 203.0.113.0/24 were refused within an hour that they share this row: 300 for this reason. What each of them sent is not kept.',
  )
  expect([explanation.fix, explanation.now]).toEqual([null, null])

  const { database, clock } = on
  const ctx = { clock, db: database.db, tx: transactionsOn(database, clock) }
  await tidyActivity(ctx, { init: 2, refusals: 2, sign_ins: 2, logs: 2, other: 2 })
  expect((await kinds()).sort()).toEqual(
    [
      'end_user.registered',
      'end_user.signed_in',
      'hashCheckFail',
      'init',
      'keyNotFound',
      'keyNotFound',
    ].sort(),
  )
})

test('what is not written yet is written when the server stops', async () => {
  const stopping = await startServer()
  const vendor = await signUp(stopping)
  const theirs = await makeApp(vendor)
  await startProgram(stopping, theirs)
  await stopping.server.close()
  const rows = await stopping.database.db.selectFrom('activity').select('kind').execute()
  expect(rows).toEqual([{ kind: 'init' }])
  await stopping.database.close()
})

test('a license has the events of its end user, and refusals of its key before anybody uses it', async () => {
  const [first, second] = await makeLicenses(on, owner, app, 2)
  const [unused, foreign] = [first!, second!]
  await owner.call('PATCH', `/licenses/${unused._id}/toggle-ban`, { is_banned: true })
  await validate(unused.key.toLowerCase().replaceAll('-', ''))
  await validate(foreign.key, 'pc-2')
  await stored(['keyBanned'], `?license=${unused._id}`)
  const { license, user } = await activateKey(on, owner, app)
  await expect
    .poll(async () =>
      (await list(`?license=${license._id}`)).events.map((e: { client: unknown }) => e.client),
    )
    .toContainEqual({ _id: user._id, username: license.key, name: null })
  expect(await kinds(`?license=${license._id}&kind=end_user.registered`)).toEqual(['end_user.registered'])
  expect(await kinds(`?license=${license._id}&code=any`)).toEqual([])
  for (const [by, query] of [
    [owner, '?license=lic_none'],
    [other, `?license=${license._id}`],
  ] as const) {
    expect(refusal(await by.call('GET', `/activity${query}`))).toBe('not_found')
  }
})

test('filters by every kind of event, and searches users, keys, addresses and references', async () => {
  const { program, license } = await registerUser(on, owner, app)
  const wrong = { username: 'Mallory', password: 'wrong', hwid: 'pc-1' }
  await program.call('POST', '/login', wrong, { from: '203.0.113.77' })
  await program.call('POST', '/license', { licenseKey: 'NO-SUCH-KEY' }, { from: '198.51.100.4' })
  await stored(['keyNotFound', 'usernameNotFound', 'end_user.registered', 'init'])
  const events = (await list()).events
  const reference = events[0].reference as string
  const found = async (search: string, more = '') => kinds(`?search=${encodeURIComponent(search)}${more}`)
  expect(await kinds('?kind=init')).toEqual(['init'])
  expect(await kinds(`?kind=end_user.registered&app=${app._id}`)).toEqual(['end_user.registered'])
  expect(await found('alice')).toEqual(['end_user.registered'])
  expect(await found(license.key.slice(6, 17))).toContain('end_user.registered')
  expect(await found('mallory')).toEqual(['usernameNotFound'])
  expect(await found('no-such')).toEqual(['keyNotFound'])
  expect(await found('198.51.100.')).toEqual(['keyNotFound'])
  expect(await found(reference.toLowerCase())).toEqual(['keyNotFound'])
  expect(await found('mallory', '&code=keyNotFound')).toEqual([])
  expect(await found('mallory', `&app=${app._id}&kind=init`)).toEqual([])
  expect(await found('nobody at all')).toEqual([])
  const ofOther = await list('?search=mallory', other)
  expect(ofOther).toMatchObject({ events: [], pagination: { total: 0 } })
  expect(refusal(await owner.call('GET', '/activity?kind=refused'))).toBe('invalid_input')
})

test('activations are first uses of licenses, newest first, also of the apps of a member alone', async () => {
  const { program, license } = await registerUser(on, owner, app)
  const [second] = await makeLicenses(on, owner, app)
  const redeemed = await program.call('POST', '/upgrade', { username: 'alice', licenseKey: second!.key })
  expect(redeemed.status).toBe(200)
  const elsewhere = await makeApp(owner)
  await registerUser(on, owner, elsewhere, 'bob')
  const order = ['end_user.registered', 'license.redeemed', 'end_user.registered']
  await stored(order, '?kind=activations')
  await stored(order.slice(1), `?kind=activations&app=${app._id}`)
  await stored(order.slice(1), `?kind=activations&license=${license._id}`)
  await stored(order.slice(1), '?kind=activations&search=alice')
  const page = await list('?kind=activations&limit=1&page=2')
  expect(page.events).toMatchObject([{ kind: 'license.redeemed' }])
  expect(page.pagination).toMatchObject({ total: 3, pages: 3 })
  for (const apps of [[app._id], [app._id, elsewhere._id], null]) {
    const member = await addMember(on, owner, { role: 'viewer', apps })
    const { events, pagination } = (await member.call('GET', '/activity?kind=activations')).json.data
    const seen = apps?.length === 1 ? order.slice(1) : order
    expect(events.map(({ kind }: { kind: string }) => kind)).toEqual(seen)
    expect(pagination.total).toBe(seen.length)
  }
  expect((await list('?kind=activations', other)).events).toEqual([])
  expect((await list('?kind=activations&code=any')).events).toEqual([])
})
