// On PostgreSQL in the full run: key-rotation-kill seals and opens the same columns there.
import { expect, test } from 'vitest'
import { watchKeys } from '../../src/db/key-rotation/servers.ts'
import { putMeta } from '../../src/db/meta.ts'
import { openSeal, readKeyMeta } from '../../src/db/secret-key.ts'
import { lockDataDir } from '../../src/db/sqlite/data-dir.ts'
import { makeLicenses, refusal, registerUser, startProgram } from '../actors.ts'
import { keyward, runKeyward } from '../command-line.ts'
import { addTotp, signIn } from '../factors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { fillSealed, listUnreadable } from '../key-rotations.ts'

const [lost, next] = [
  'the key that is lost, of 32 characters',
  'the key that is new, of 32 characters at least',
]
const on = serverForAll({ SECRET_KEY: lost }, { runsImports: false, deliversWebhooks: false })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const replaceLost = (...more: string[]) =>
  keyward(on, ['keys', 'replace-lost', ...more], { SECRET_KEY: next })

test('changes nothing while the key is here, while a server runs, and without a typed word', async () => {
  const seal = await openSeal(on.database, on.config)
  const before = await readKeyMeta(on.database)
  const here = await keyward(on, ['keys', 'replace-lost', '--yes'])
  expect([here.code, here.stderr]).toEqual([1, expect.stringContaining('use keyward keys rotate')])
  const { databaseUrl: DATABASE_URL = '', dataDir: DATA_DIR } = on.config
  const unsure = await runKeyward(
    ['keys', 'replace-lost'],
    { DATA_DIR, DATABASE_URL, SECRET_KEY: next },
    ({ stdin }) => stdin?.end('yes\n'),
  )
  expect([unsure.code, unsure.stderr]).toEqual([1, expect.stringContaining('Nothing was changed')])
  // The key before is lost in the middle of a rotation.
  const rotation = JSON.stringify({ from: 'lost', to: seal.fingerprint })
  await putMeta(on.database.db, 'secret_key_rotation', rotation)
  await expect(openSeal(on.database, on.config)).rejects.toThrow('one of its keys is missing')
  const halfLost = await runKeyward(
    ['keys', 'replace-lost'],
    { DATA_DIR, DATABASE_URL, SECRET_KEY: lost },
    ({ stdin }) => stdin?.end('no\n'),
  )
  expect([halfLost.code, halfLost.stderr]).toEqual([1, expect.stringContaining('Type replace to go on')])
  await on.database.db.deleteFrom('meta').where('name', '=', 'secret_key_rotation').execute()
  const release = on.config.databaseUrl === undefined ? lockDataDir(on.dataDir) : undefined
  const end = watchKeys({
    ...{ database: on.database, seal },
    onStranger: () => {},
    onError: () => {},
  })
  const runs = await replaceLost('--yes')
  expect([runs.code, runs.stderr]).toEqual([1, expect.stringMatching(/running on|server runs on/)])
  await end()
  release?.()
  expect(await readKeyMeta(on.database)).toEqual(before)
})

const kidOf = async (id: string) =>
  (await on.database.db.selectFrom('apps').select('signing_kid').where('id', '=', id).executeTakeFirst())
    ?.signing_kid

test('keeps licenses, end users, devices and accounts, and programs with the new values sign in', async () => {
  const { license, user } = await registerUser(on, owner, app, 'kept')
  const unused = (await makeLicenses(on, owner, app))[0]
  const counts = () =>
    Promise.all(
      (['licenses', 'clients', 'devices', 'accounts', 'apps', 'resellers'] as const).map((table) =>
        on.database.db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow(),
      ),
    )
  const kept = { ...app }
  await fillSealed({ on, owner, app }, on.seal)
  const person = { base: '/auth' as const, email: owner.email, password: owner.password, token: owner.token }
  await addTotp(on, person)
  const [before, kid] = [await counts(), await kidOf(kept._id)]

  const done = await replaceLost('--yes', '--json')
  expect([done.stderr, done.code]).toEqual(['', 0])
  const report = JSON.parse(done.stdout)
  expect(report.apps).toContainEqual({ id: kept._id, appId: kept.appId, name: 'Atlas', vendor: owner.email })
  for (const name of [
    'factors',
    'webhooks',
    'shops',
    'appVariables',
    'otherPrograms',
    'lazyMoves',
    'erasures',
  ])
    expect(report[name].length, name).toBeGreaterThan(0)
  expect(report.factors).toContain(owner.email)
  expect(await listUnreadable(on.database, next)).toEqual([])
  expect(await counts()).toEqual(before)
  expect(await openSeal(on.database, { ...on.config, secretKey: next })).toBeDefined()
  await expect(openSeal(on.database, on.config)).rejects.toThrow(/not the key/)

  const { databaseUrl } = on.config
  const again = await startServer({
    ...{ SECRET_KEY: next, DATA_DIR: on.dataDir },
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  })
  try {
    const vendor = await signIn(again, person)
    expect(vendor.status).toBe(200)
    const { token } = vendor.json.data
    const { json } = await again.call('GET', `/apps/${kept._id}`, { token })
    const { appSecret } = json.data.app
    expect(appSecret).not.toBe(kept.appSecret)
    expect(await kidOf(kept._id)).not.toBe(kid)
    const old = await again.call('POST', '/client/init', {
      body: { appId: kept.appId, secret: kept.appSecret, version: '1.0.0' },
    })
    expect(old.status).not.toBe(200)
    const program = await startProgram(again, { appId: kept.appId, appSecret })
    const signedIn = await program.call('POST', '/login', { username: 'kept', password: 'swordfish' })
    expect(signedIn.json.data.user).toMatchObject({ _id: user._id, expiresAt: user.expiresAt })
    const other = await startProgram(again, { appId: kept.appId, appSecret })
    expect(refusal(await other.call('POST', '/license', { licenseKey: license.key }))).toBe('keyUsed')
    const first = await startProgram(again, { appId: kept.appId, appSecret })
    expect((await first.call('POST', '/license', { licenseKey: unused?.key })).status).toBe(200)
  } finally {
    await again.server.close()
    await again.database.close()
  }
})
