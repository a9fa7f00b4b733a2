// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { License } from '@keyward/contract'
import { expect, test } from 'vitest'
import { confirmImportedEmail } from '../../src/modules/imports/imports.access.ts'
import { makeApp, makeType, signUp, single, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import {
  importAll,
  keyAuthUser,
  keysFile,
  prepareImport,
  rowsOf,
  runAnswered,
  runImport,
  settled,
  usersFile,
} from '../imported.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const other = premiumOwnerForAll(on)

const inSeconds = (days: number) => String(Math.round((on.clock.now() + days * 86_400_000) / 1000))
const clientsOf = async (app: { _id: string }) =>
  (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients
const licensesOf = async (app: { _id: string }) =>
  (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses

test('a dry run tells what would be created and changes nothing', async () => {
  const app = await makeApp(owner)
  const files = [usersFile([keyAuthUser('frodo')]), keysFile([{ key: 'KA-AAAA-1', level: '1', expiry: 30 }])]
  const { _id, state } = await prepareImport(owner, app, files)
  expect(state).toBe('waiting')
  const checked = await runImport(owner, _id, true)
  expect(checked).toMatchObject({
    state: 'checked',
    dryRun: true,
    rows: 2,
    created: 1,
    skipped: 1,
    clients: 1,
  })
  expect(checked.questions.length).toBeGreaterThan(0)
  expect(await clientsOf(app)).toEqual([])
  expect(await licensesOf(app)).toEqual([])
})

test('a real run needs an answer to each question', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [keysFile([{ key: 'KA-AAAA-1', level: '1', expiry: 30 }])])
  const asked = await runImport(owner, _id, false)
  expect(asked).toMatchObject({ state: 'waiting', created: 0 })
  const refused = await owner.call('POST', `/imports/${_id}/run`, { dryRun: false })
  expect([refused.status, refused.json.code]).toEqual([409, 'import_unanswered'])
})

test('creates licenses and end users, whose old passwords work and are hashed again', async () => {
  const app = await makeApp(owner)
  const users = usersFile(
    [keyAuthUser('frodo', { hwid: 'hwid-1-aaaaaaaaaaaaaaaa' }), keyAuthUser('KA-BBBB-2')],
    [{ user: 'frodo', subscription: 'default', expiry: inSeconds(30) }],
  )
  const done = await importAll(owner, app, [users, keysFile([{ key: 'KA-BBBB-2', level: '1', expiry: 7 }])])
  expect(done).toMatchObject({ state: 'done', dryRun: false, created: 3, clients: 2, files: [] })
  const [frodo] = (await clientsOf(app)).filter(({ username }: { username: string }) => username === 'frodo')
  expect(frodo).toMatchObject({ status: 'active', hwid: 'hwid-1-aaaaaaaaaaaaaaaa', ban: false })
  const program = await startProgram(on, app)
  const login = (password: string) =>
    program.call('POST', '/login', { username: 'Frodo', password, hwid: 'hwid-1-aaaaaaaaaaaaaaaa' })
  expect((await login('ring-bearer-2')).status).toBe(401)
  expect((await login('ring-bearer-1')).status).toBe(200)
  const stored = await on.database.db
    .selectFrom('clients')
    .select('password_hash')
    .where('id', '=', frodo._id)
    .executeTakeFirstOrThrow()
  expect(stored.password_hash).toMatch(/^\$argon2id\$/)
  expect((await login('ring-bearer-1')).status).toBe(200)
})

test('uploads a file in parts, and refuses others once it has run', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [])
  const text = usersFile(Array.from({ length: 1200 }, (_, at) => keyAuthUser(`user-ä-${at}`))).content
  const upload = (content: string) =>
    on.server.inject({
      method: 'PUT',
      url: `/api/imports/${_id}/files/users.json`,
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/octet-stream' },
      payload: Readable.from([Buffer.from(content)]),
    })
  expect((await upload(text)).json().data.import.files).toEqual([
    { name: 'users.json', bytes: Buffer.byteLength(text) },
  ])
  expect((await upload(text)).statusCode).toBe(200)
  const done = await runAnswered(owner, _id)
  expect(done).toMatchObject({ state: 'done', created: 1200, clients: 1200, licenses: 1200 })
  expect((await upload(text)).statusCode).toBe(409)
  const stored = on.database.db.selectFrom('data_import_parts').select('part')
  await expect.poll(() => stored.where('import_id', '=', _id).execute()).toEqual([])
})

test('skips what exists already, and undoes what was not used since', async () => {
  const app = await makeApp(owner)
  const files = [usersFile([keyAuthUser('frodo'), keyAuthUser('sam')])]
  const first = await importAll(owner, app, files)
  const again = await importAll(owner, app, files)
  expect(again).toMatchObject({ created: 0, skipped: 2 })
  const program = await startProgram(on, app)
  const signedIn = await program.call('POST', '/login', { username: 'sam', password: 'ring-bearer-1' })
  expect(signedIn.status).toBe(200)
  const asked = await owner.call('POST', `/imports/${first._id}/undo`)
  expect(asked.status).toBe(200)
  expect(await settled(owner, first._id)).toMatchObject({ state: 'undone', kept: 1 })
  expect((await clientsOf(app)).map(({ username }: { username: string }) => username)).toEqual(['sam'])
  expect(await licensesOf(app)).toHaveLength(1)
  const outcomes = (await rowsOf(owner, first._id)).map((row: { outcome: string }) => row.outcome)
  expect(outcomes.toSorted()).toEqual(['kept', 'undone'])
  expect((await owner.call('POST', `/imports/${first._id}/undo`)).status).toBe(409)
})

test('a list of Keyward becomes licenses, with random keys where it has none', async () => {
  const [from, into] = [await makeApp(owner), await makeApp(owner)]
  await makeType(owner, into, { name: 'Pro', keyPrefix: 'PRO', seats: 4 })
  const sold = { app: from._id, expiresAt: on.clock.inDays(50), note: 'of Ann' }
  const { license } = (await owner.call('POST', '/licenses', sold)).json.data
  const exported = String((await owner.call('GET', `/licenses/export?format=csv&app=${from._id}`)).raw)
  const own = ['License Key,type,duration,note', 'OLD-1,pro,,"two', 'lines"', 'OLD-2,,soon,', ',,lifetime,']
  const files = [
    { name: 'export.csv', content: exported },
    { name: 'again.csv', content: exported },
    { name: 'own.csv', content: own.join('\n') },
  ]
  const { _id } = await prepareImport(owner, into, files, 'keyward')
  const counts = { questions: [], created: 3, skipped: 1, failed: 1 }
  expect(await runImport(owner, _id, true)).toMatchObject(counts)
  /** Files that arrive together have no order. */
  const reported = async () =>
    (await rowsOf(owner, _id))
      .map(({ name, outcome, message }: Record<string, string>) => `${name} ${outcome}: ${message}`)
      .toSorted()
  const expected = (...random: string[]) =>
    [
      ...random.map((key) => `${key} created: It gets a random key.`),
      ' failed: duration must be like 30 days: hours, days, months or years, at most 100 years',
      `${license.key} created: null`,
      `${license.key} skipped: An earlier row has the same key, or one that reads the same`,
    ].toSorted()
  expect(await reported()).toEqual(expected('', ''))
  expect(await runImport(owner, _id, false)).toMatchObject(counts)
  const made = new Map((await licensesOf(into)).map((one: License) => [one.note, one]))
  expect(made.get('of Ann')).toMatchObject({ key: license.key, expiresAt: license.expiresAt })
  const [pro, forever] = [made.get('two lines'), made.get(null)] as License[]
  expect(pro).toMatchObject({ key: expect.stringMatching(/^PRO-/), seats: 4, type: { name: 'Pro' } })
  expect(forever).toMatchObject({ term: 'forever', expiresAt: null })
  expect(await reported()).toEqual(expected(pro?.key ?? '', forever?.key ?? ''))
  await owner.call('POST', `/imports/${_id}/undo`)
  expect(await settled(owner, _id)).toMatchObject({ state: 'undone', kept: 0 })
  expect(await licensesOf(into)).toEqual([])
})

test('accepts one of several hardware ids written one behind the other, and binds exactly that one', async () => {
  const app = await makeApp(owner)
  const [first, second] = ['hwid-a-aaaaaaaaaaaaaaaa', 'hwid-b-bbbbbbbbbbbbbbbbbb']
  await importAll(owner, app, [usersFile([keyAuthUser('sam', { hwid: first + second })])])
  const program = await startProgram(on, app)
  const login = async (hwid: string) => {
    const body = { username: 'sam', password: 'ring-bearer-1', hwid }
    return (await program.call('POST', '/login', body)).status
  }
  expect(await login('bbbbbb')).toBe(403)
  expect(await login('another-hwid-of-a-machine')).toBe(403)
  expect(await login(second)).toBe(200)
  expect(await login(first)).toBe(403)
})

test('an end user without a password signs in by nothing until the vendor gives it one', async () => {
  const app = await makeApp(owner)
  const users = usersFile([keyAuthUser('pippin', { password: null })])
  const { _id } = await prepareImport(owner, app, [users])
  await runAnswered(owner, _id)
  expect(single(await rowsOf(owner, _id))).toMatchObject({
    outcome: 'created',
    message: expect.stringMatching(/password/),
  })
  const program = await startProgram(on, app)
  const login = (password: string) => program.call('POST', '/login', { username: 'pippin', password })
  for (const password of ['!', 'ring-bearer-1', 'null']) expect((await login(password)).status).toBe(401)
  const licenseKey = single<{ key: string }>(await licensesOf(app)).key
  expect((await program.call('POST', '/license', { licenseKey })).status).toBe(409)
  const { _id: id } = single<{ _id: string }>(await clientsOf(app))
  const answer = await owner.call('PUT', `/clients/${id}/password`, { password: 'second breakfast' })
  expect(answer.status).toBe(200)
  expect((await login('second breakfast')).status).toBe(200)
})

test('keeps bans, and what a pause has left', async () => {
  const app = await makeApp(owner)
  const users = [keyAuthUser('grima', { banned: 'chargeback' }), keyAuthUser('sam')]
  const subscription = [
    { user: 'grima', expiry: inSeconds(30) },
    { user: 'sam', expiry: '86400' },
  ]
  await importAll(owner, app, [usersFile(users, subscription)])
  const rows = await on.database.db
    .selectFrom('clients')
    .select(['username', 'banned', 'ban_reason', 'paused_at', 'left_ms'])
    .where('app_id', '=', app._id)
    .orderBy('username')
    .execute()
  const now = on.clock.now()
  expect(rows).toMatchObject([
    { username: 'grima', banned: 1, ban_reason: 'chargeback', paused_at: null },
    { username: 'sam', banned: 0, paused_at: now, left_ms: 86_400_000 },
  ])
})

test('the history of an end user and of its license says that they were imported', async () => {
  const app = await makeApp(owner)
  await importAll(owner, app, [usersFile([keyAuthUser('merry')])])
  const { _id } = single<{ _id: string }>(await clientsOf(app))
  for (const about of [_id, single<{ _id: string }>(await licensesOf(app))._id]) {
    const { records } = (await owner.call('GET', `/audit?about=${about}`)).json.data
    expect(records.map(({ action }: { action: string }) => action)).toContain('licenses.imported')
  }
})

test('a plan has no room for more licenses than it allows, also in a dry run', async () => {
  const free = await signUp(on)
  const app = await makeApp(free)
  const users = Array.from({ length: 33 }, (_, at) => keyAuthUser(`user-${at}`))
  const { _id } = await prepareImport(free, app, [usersFile(users)])
  for (const dryRun of [true, false])
    expect(await runImport(free, _id, dryRun)).toMatchObject({ created: 30, failed: 3, licenses: 30 })
})

test('needs the right to write licenses and end users, and the app', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [])
  const second = await makeApp(owner, 'Second')
  for (const [permissions, apps, status] of [
    [['licenses:write'], undefined, 403],
    [['clients:write'], undefined, 403],
    [['licenses:write', 'clients:write'], [second._id], 404],
    [['licenses:write', 'clients:write'], [app._id], 200],
  ] as const) {
    const key = await makeApiKey(on, owner, { permissions, apps })
    expect((await key.call('GET', `/imports/${_id}`)).status).toBe(status)
    const { json } = await key.call('GET', '/imports')
    if (status === 404) expect(json.data.imports).toEqual([])
  }
})

test('another vendor finds nothing', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [usersFile([keyAuthUser('frodo')])])
  for (const [method, path, body] of [
    ['GET', `/imports/${_id}`],
    ['GET', `/imports/${_id}/report`],
    ['POST', `/imports/${_id}/run`, { dryRun: true }],
    ['POST', `/imports/${_id}/undo`],
    ['PUT', `/imports/${_id}/files/a.json`],
  ] as const) {
    expect((await other.call(method, path, body)).status).toBe(404)
  }
})

test('keeps the hash of an address until the end user sends that address', async () => {
  const app = await makeApp(owner)
  const hashOfSam = createHash('sha1').update('sam@shire.example').digest('hex')
  await importAll(owner, app, [usersFile([keyAuthUser('sam', { email: hashOfSam })])])
  const { _id, email } = single<{ _id: string; email: string | null }>(await clientsOf(app))
  expect(email).toBeNull()
  const facts = { kind: 'program', ownerId: owner.id, apps: null, appId: app._id } as const
  const actor = { ...facts, sessionId: null, address: '203.0.113.9' }
  const confirm = (sent: string) => confirmImportedEmail(ctxOf(on), actor, _id, sent)
  expect(await confirm('frodo@shire.example')).toBeNull()
  expect(await confirm(hashOfSam)).toBeNull()
  expect(await confirm('Sam@Shire.example')).toBe('Sam@Shire.example')
  expect(single<{ email: string }>(await clientsOf(app)).email).toBe('Sam@Shire.example')
  expect(await confirm('Sam@Shire.example')).toBeUndefined()
})

test('runs once for callers at the same time, and takes no file larger than 64 MiB', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [usersFile([keyAuthUser('frodo')])])
  const runs = Array.from({ length: 8 }, () => owner.call('POST', `/imports/${_id}/run`, { dryRun: false }))
  const statuses = (await Promise.all(runs)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(409)])
  expect(await settled(owner, _id)).toMatchObject({ state: 'done', created: 1 })
  const waiting = await prepareImport(owner, app, [])
  const refused = await on.server.inject({
    method: 'PUT',
    url: `/api/imports/${waiting._id}/files/users.json`,
    headers: { authorization: `Bearer ${owner.token}`, 'content-length': String(67_108_865) },
    payload: 'x',
  })
  expect(refused.statusCode).toBe(413)
})

test('an import ends with its app, and leaves no row behind', async () => {
  const app = await makeApp(owner)
  const { _id } = await importAll(owner, app, [usersFile([keyAuthUser('frodo')])])
  await prepareImport(owner, app, [usersFile([keyAuthUser('sam')])])
  expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
  const { db } = on.database
  for (const table of ['data_imports', 'data_import_files', 'data_import_parts', 'data_import_rows'] as const)
    expect(await db.selectFrom(table).select('app_id').where('app_id', '=', app._id).execute()).toEqual([])
  expect((await owner.call('GET', `/imports/${_id}`)).status).toBe(404)
})

test('deletes the files of an import that never ran after a day, and its report after a month', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [usersFile([keyAuthUser('frodo')])])
  on.clock.advance(25 * 3_600_000)
  await tidyUp(on)
  expect((await owner.call('GET', `/imports/${_id}`)).json.data.import.files).toEqual([])
  on.clock.advance(30 * 86_400_000)
  await tidyUp(on)
  const left = await on.database.db.selectFrom('data_imports').select('id').where('id', '=', _id).execute()
  expect(left).toEqual([])
})
