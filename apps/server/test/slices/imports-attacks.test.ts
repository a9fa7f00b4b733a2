import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { deleteParts } from '../../src/modules/imports/imports.repo.ts'
import { makeApp, single, startProgram } from '../actors.ts'
import { premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import {
  importAll,
  keyAuthUser,
  keysFile,
  prepareImport,
  rowsOf,
  runImport,
  settled,
  usersFile,
} from '../imported.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)

const clientsOf = async (app: { _id: string }) =>
  (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients
const licensesOf = async (app: { _id: string }) =>
  (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses

const unusedKeys = async (app: { _id: string }, keys: string[], users: { username: string }[] = []) => {
  const files = [keysFile(keys.map((key) => ({ key, level: '1', expiry: 30 })))]
  if (users.length > 0) files.push(usersFile(users))
  const { _id } = await prepareImport(owner, app, files)
  return runImport(owner, _id, false, { keysWithoutStatus: 'unused' })
}

test('sign-ins of an imported end user at the same time all succeed', async () => {
  const app = await makeApp(owner)
  await importAll(owner, app, [usersFile([keyAuthUser('frodo')])])
  const programs = await Promise.all([1, 2, 3].map(() => startProgram(on, app)))
  const answers = await Promise.all(
    programs.map((one) => one.call('POST', '/login', { username: 'frodo', password: 'ring-bearer-1' })),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
})

test('hardware ids and levels that no database stores do not stop an import', async () => {
  const app = await makeApp(owner)
  const users = [
    keyAuthUser('a', { hwid: 'hwid\0of-a-machine' }),
    keyAuthUser('b', { hwid: `${'b'.repeat(30)}\0${'c'.repeat(30)}` }),
    keyAuthUser('c', { hwid: 'c d'.repeat(2000) }),
    keyAuthUser('d', { hwid: '\ud800-d-aaaaaaaaaaaaaaaa' }),
  ]
  const keys = [{ key: 'KA-AAAA-1', level: '2\0\ud800', expiry: 30 }]
  const { _id } = await prepareImport(owner, app, [usersFile(users), keysFile(keys)])
  const done = await runImport(owner, _id, false, { keysWithoutStatus: 'unused' })
  expect(done).toMatchObject({ state: 'done', problem: null, created: 5, failed: 0 })
  for (const { hwid } of await clientsOf(app)) expect(hwid).toBeNull()
  const messages = (await rowsOf(owner, _id)).map((row: { message: string }) => row.message)
  expect(messages.filter((text: string) => text?.includes('hardware id'))).toHaveLength(4)
})

test('an undo keeps keys that were sold since', async () => {
  const app = await makeApp(owner)
  const { _id } = await unusedKeys(app, ['KA-AAAA-1', 'KA-BBBB-2'])
  const sold = (await licensesOf(app)).find(({ key }: { key: string }) => key === 'KA-AAAA-1')
  const changed = await owner.call('PUT', `/licenses/${sold._id}`, { customer: 'sam@shire.example' })
  expect(changed.status).toBe(200)
  await owner.call('POST', `/imports/${_id}/undo`)
  expect(await settled(owner, _id)).toMatchObject({ state: 'undone', kept: 1 })
  expect((await licensesOf(app)).map(({ key }: { key: string }) => key)).toEqual(['KA-AAAA-1'])
})

test('an undo keeps an end user who has since redeemed another key of the import', async () => {
  const app = await makeApp(owner)
  const { _id } = await unusedKeys(app, ['KA-AAAA-1'], [keyAuthUser('frodo')])
  const frodo = single<{ _id: string }>(await clientsOf(app))
  const { db } = on.database
  const key = db.updateTable('licenses').where('key', '=', 'KA-AAAA-1').where('app_id', '=', app._id)
  await key.set({ client_id: frodo._id, used: 1, used_at: on.clock.now() }).execute()
  await owner.call('POST', `/imports/${_id}/undo`)
  expect(await settled(owner, _id)).toMatchObject({ state: 'undone', kept: 2 })
  expect(await clientsOf(app)).toHaveLength(1)
})

test('the report of a dry run names no license and no end user, because there is none', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [usersFile([keyAuthUser('frodo')])])
  await runImport(owner, _id, true)
  const [row] = await rowsOf(owner, _id)
  expect(row).toMatchObject({ outcome: 'created', licenseId: null, clientId: null })
})

test('files that end the server each time they are read are given up', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [usersFile([keyAuthUser('frodo')])])
  const row = on.database.db.updateTable('data_imports').where('id', '=', _id)
  await row.set({ state: 'running', dry_run: 0, claim: '5:of a dead process', claimed_until: 0 }).execute()
  const failed = await settled(owner, _id)
  expect(failed).toMatchObject({ state: 'failed', created: 0 })
  expect(failed.problem).toMatch(/split/)
  expect((await runImport(owner, _id, false)).state).toBe('done')
})

test('the vendor who asks first is served first, and one with many imports lets others in between', async () => {
  const app = await makeApp(owner)
  const [first, second] = [await prepareImport(owner, app, []), await prepareImport(owner, app, [])]
  const now = on.clock.now()
  const { db } = on.database
  // Claims of other nodes: the first import runs there, the second one waits.
  const set = (id: string, until: number) =>
    db
      .updateTable('data_imports')
      .set({ state: 'undoing', is_read: 1, claim: '1:there', claimed_until: until })
      .where('id', '=', id)
      .execute()
  await set(first._id, now + 600_000)
  await set(second._id, now + 600_000)
  expect((await importAll(owner, app, [usersFile([keyAuthUser('frodo')])])).state).toBe('done')
  await set(first._id, now)
  await set(second._id, now)
  expect(await settled(owner, first._id)).toMatchObject({ state: 'undone' })
  expect(await settled(owner, second._id)).toMatchObject({ state: 'undone' })
})

test('an upload whose first parts expire while it arrives is refused, not cut', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [])
  const content = Readable.from(
    (async function* () {
      yield Buffer.alloc(200_000, 'a')
      const parts = on.database.db
        .selectFrom('data_import_parts')
        .select('file_id')
        .where('import_id', '=', _id)
      await expect.poll(async () => (await parts.execute()).length).toBe(1)
      const { file_id } = single<{ file_id: string }>(await parts.execute())
      await on.database.db.transaction().execute((tx) => deleteParts(tx as never, file_id, 8))
      yield Buffer.alloc(200_000, 'b')
    })(),
  )
  const answer = await on.server.inject({
    method: 'PUT',
    url: `/api/imports/${_id}/files/a.csv`,
    headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/octet-stream' },
    payload: content,
  })
  expect(answer.statusCode).toBe(503)
  expect((await owner.call('GET', `/imports/${_id}`)).json.data.import.files).toEqual([])
})

test('deletes what an upload left behind that never ended', async () => {
  const app = await makeApp(owner)
  const { _id } = await prepareImport(owner, app, [usersFile([keyAuthUser('frodo')])])
  const { db } = on.database
  const part = { file_id: 'imf_of_a_dead_process', part: 0, import_id: _id, app_id: app._id, sealed: 'x' }
  await db.insertInto('data_import_parts').values(part).execute()
  on.clock.advance(25 * 3_600_000)
  await tidyUp(on)
  const left = await db.selectFrom('data_import_parts').select('part').where('import_id', '=', _id).execute()
  expect(left).toEqual([])
})
