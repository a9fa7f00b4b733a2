// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { normalizeKey } from '../../src/core/ids.ts'
import { makeApp, makeLicenses, refusal, single, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const create = async (key: string, target = app) => {
  await owner.call('PUT', `/apps/${target._id}`, { settings: { allowCustomLicenseKey: true } })
  return owner.call('POST', '/licenses', { app: target._id, key, expiresAt: on.clock.inDays(30) })
}
const validate = async (licenseKey: string) => {
  const body = { appId: app.appId, licenseKey }
  return (await on.call('POST', '/client/validate', { body })).json.data
}

/** Makes equal keys, which an earlier version allowed in one app. */
async function createTwins(...keys: string[]): Promise<void> {
  for (const key of keys) {
    const { _id } = single(await makeLicenses(on, owner, app))
    await on.database.db
      .updateTable('licenses')
      .set({ key, key_normalized: normalizeKey(key), key_twin: 1 })
      .where('id', '=', _id)
      .execute()
  }
}

test.each([
  'SOLAR-LION-2026',
  'solar lion 2026',
  'S0LAR-L10N-2O26',
  's0iar—1i0n–2o26',
  '“SOLAR–LION–2026”',
  '\u202eSOLAR\u200b-LION\u00ad-2026\ufeff',
  'ＳＯＬＡＲ－ＬＩＯＮ－２０２６',
])('finds a custom key typed as %j', async (typed) => {
  await create('SOLAR-LION-2026')
  expect(await validate(typed)).toMatchObject({ valid: true, license: { key: 'SOLAR-LION-2026' } })
  const program = await startProgram(on, app)
  const { json } = await program.call('POST', '/license', { licenseKey: typed })
  expect(json.data.user.username).toBe('SOLAR-LION-2026')
})

test('finds a generated key with O, I and L typed for its digits', async () => {
  const { json } = await owner.call('POST', '/licenses', {
    app: app._id,
    expiresAt: on.clock.inDays(1),
    count: 20,
  })
  for (const { key } of json.data.licenses as { key: string }[]) {
    const typed = key.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('-', ' ')
    expect(await validate(typed)).toMatchObject({ valid: true, license: { key } })
  }
})

test.each(['---', '""""', '\u200b\u200b', '\ufdfa'.repeat(100), '😀😀', '_', "' or 1=1 --"])(
  'finds no license for %j',
  async (licenseKey) => {
    await create('SOLAR-LION-2026')
    expect(await validate(licenseKey)).toMatchObject({ code: 'keyNotFound', license: null })
  },
)

test('rejects a custom key that reads like another one of the app, in another app it is accepted', async () => {
  await create('SOLAR-LION')
  for (const key of ['solar_lion', 'S0LAR-LION', 'SO-1AR-110N', 'S0IARI1ON']) {
    expect(refusal(await create(key))).toBe('key_taken')
  }
  expect((await create('S0LAR-LION', await makeApp(owner, 'Other'))).status).toBe(201)
})

test('creates one of eight concurrent keys that read the same', async () => {
  const keys = ['SOLAR-LION', 'S0LAR-LION', 'S0LAR-1ION', 'SOLAR-L1ON', 'SOLARLION', 'SOLARIION']
  const answers = await Promise.all([...keys, 'solar-lion', 's0lar-lion'].map((key) => create(key)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
})

test('older keys that read the same match exactly only', async () => {
  await createTwins('SOLAR-LION', 'S0LAR-LION')
  expect(await validate('solar lion')).toMatchObject({ license: { key: 'SOLAR-LION' } })
  expect(await validate('s0lar lion')).toMatchObject({ license: { key: 'S0LAR-LION' } })
  for (const typed of ['SOLAR-1ION', 'SO1AR-LION']) {
    expect(await validate(typed)).toMatchObject({ code: 'keyNotFound' })
  }
  expect(refusal(await create('SOLAR-1ION'))).toBe('key_taken')
})

test('an import skips keys that read like existing ones, or like each other', async () => {
  await create('SOLAR-LION')
  await createTwins('TIGER-0NE', 'TIGER-ONE')
  const keys = ['solarlion', 'S0LAR-LION', 'T1GER-ONE', 'MOON-LION', 'M0ON-LION', 'TIGER-ONE']
  const csv = ['key,expiresAt', ...keys.map((key) => `${key},2030-01-01`)].join('\n')
  const { json } = await owner.call('POST', '/licenses/import', { app: app._id, csv })
  const same = 'A key that reads the same exists already'
  expect(json.data.rows.map(({ message }: { message: string }) => message)).toEqual([
    'The key exists already',
    same,
    same,
    null,
    same,
    'The key exists already',
  ])
})

describe('a key in a sentence', () => {
  const typed = [
    ['a full stop', (key: string) => `${key}.`],
    ['stars and a label', (key: string) => `Your key: **${key}**.`],
    ['a sentence', (key: string) => `Thanks! Your key is (${key}), keep it.`],
    ['spaces and a label', (key: string) => `License key: ${key.replaceAll('-', ' ')};`],
  ] as const

  test.each(typed)('with %s is found by every call', async (_what, text) => {
    const keys = (await makeLicenses(on, owner, app, 4)).map(({ key }) => key as string)
    const [first = '', second = '', third = '', fourth = ''] = keys
    expect(await validate(text(first))).toMatchObject({ valid: true, license: { key: first } })
    const program = await startProgram(on, app)
    const signedIn = await program.call('POST', '/license', { licenseKey: text(first) })
    expect(signedIn.json.data.user.username).toBe(first)
    const alice = { username: 'alice', password: 'swordfish' }
    expect((await program.call('POST', '/register', { ...alice, licenseKey: text(second) })).status).toBe(200)
    const upgrade = { username: 'alice', licenseKey: text(third) }
    expect((await program.call('POST', '/upgrade', upgrade)).status).toBe(200)
    await owner.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
    const login = await on.call('POST', `/customer/${app.appId}/login`, {
      body: { licenseKey: text(fourth) },
    })
    expect(login.status).toBe(200)
    const at = `?app=${app._id}&search=${encodeURIComponent(text(first))}`
    const { licenses } = (await owner.call('GET', `/licenses${at}`)).json.data
    expect(licenses).toMatchObject([{ key: first, match: { field: 'key' } }])
    expect((await owner.call('GET', `/clients${at}`)).json.data.clients).toMatchObject([{ username: first }])
    expect((await owner.call('GET', `/licenses/ids${at}`)).json.data.ids).toHaveLength(1)
  })

  test('is none if the text has two of them, or the key of another app', async () => {
    const [one, two] = (await makeLicenses(on, owner, app, 2)).map(({ key }) => key as string)
    expect(await validate(`${one} or ${two}?`)).toMatchObject({ code: 'keyNotFound' })
    const foreign = single(await makeLicenses(on, owner, await makeApp(owner, 'Other'))).key
    expect(await validate(`Your key: ${foreign}.`)).toMatchObject({ code: 'keyNotFound' })
  })

  test('of a text that is a key itself is not looked for', async () => {
    await create('SOLAR-LION')
    await create('A-SOLAR-LION')
    expect(await validate('a solar lion')).toMatchObject({ license: { key: 'A-SOLAR-LION' } })
    expect(await validate('A: SOLAR-LION')).toMatchObject({ license: { key: 'SOLAR-LION' } })
  })
})
