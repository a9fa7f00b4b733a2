// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout as pause } from 'node:timers/promises'
import type { License } from '@keyward/contract'
import { expect, test, vi } from 'vitest'
import { makeApp, makeLicenses, makeType, plainLicense, signUp, startProgram } from '../actors.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'

// Lets several imports of one owner run at once, as on several nodes.
const on = serverForAll({}, { gateSizes: { jobs: { running: 6, waiting: 0 } } })
const owner = premiumOwnerForAll(on)

const importInto = (target: { _id: string }, csv: string, dryRun = false, by = owner) =>
  by.call('POST', '/licenses/import', { app: target._id, csv, dryRun })

async function customApp(by = owner) {
  const own = await makeApp(by, 'Imported')
  await by.call('PUT', `/apps/${own._id}`, { settings: { allowCustomLicenseKey: true } })
  return own
}

test.each([
  ['semicolons', ';'],
  ['tabs', '\t'],
])('reads a file whose cells are separated by %s', async (_, separator) => {
  const own = await customApp()
  const cells = [
    ['Key', '"odd, column"', 'expiresAt', 'note'],
    ['SPREAD-KEY-1', '', '2027-01-31', 'Ann, in Graz'],
    ['SPREAD-KEY-2', 'x', '2027-01-31', '"says ""hi"""'],
  ]
  const { json } = await importInto(own, `\uFEFF${cells.map((row) => row.join(separator)).join('\r\n')}\r\n`)
  expect(json.data).toMatchObject({ created: 2, ignoredColumns: ['odd, column'] })
  expect(json.data.rows.map(({ key, note }: License) => [key, note])).toEqual([
    ['SPREAD-KEY-1', 'Ann, in Graz'],
    ['SPREAD-KEY-2', 'says "hi"'],
  ])
})

test('a dry run reports the outcome of every line and changes nothing', async () => {
  const own = await customApp()
  await owner.call('POST', '/licenses', { app: own._id, expiresAt: on.clock.inDays(5), key: 'TAKEN-KEY-1' })
  const csv = [
    'Key,expiresAt,note,colour',
    'FRESH-KEY-1,2027-01-31,for Ann,red',
    'taken_key_1,2027-01-31,,',
    ',2027-01-31T12:00:00+02:00,"two\nlines",',
    'fresh-key-1,2027-01-31,,',
    'FRESH-KEY-2,tomorrow,,',
    'FRESH-KEY-3,2020-01-01,,',
    'no,2027-01-31,,',
    '',
    'FRESH-KEY-4,2027-01-31,,,too many',
  ].join('\n')
  const { status, json } = await importInto(own, csv, true)
  expect(status).toBe(200)
  expect(json.data).toMatchObject({ dryRun: true, created: 2, skipped: 2, failed: 4 })
  expect(json.data.ignoredColumns).toEqual(['colour'])
  const outcomes = json.data.rows.map((row: { line: number; outcome: string }) => [row.line, row.outcome])
  expect(outcomes).toEqual([
    [2, 'created'],
    [3, 'skipped'],
    [4, 'created'],
    [6, 'skipped'],
    [7, 'error'],
    [8, 'error'],
    [9, 'error'],
    [11, 'error'],
  ])
  expect(json.data.rows[0]).toEqual({
    line: 2,
    outcome: 'created',
    key: 'FRESH-KEY-1',
    expiresAt: '2027-01-31T23:59:59.999Z',
    note: 'for Ann',
    sold: {},
    message: null,
  })
  expect((await owner.call('GET', `/licenses?app=${own._id}`)).json.data.stats.total).toBe(1)
  const real = await importInto(own, csv)
  expect([real.status, real.json.message]).toEqual([
    400,
    '4 of 8 rows cannot be imported. Nothing was imported.',
  ])
  expect(real.json.errors.map((issue: { path: string }) => issue.path)).toEqual([
    'csv.7',
    'csv.8',
    'csv.9',
    'csv.11',
  ])
  expect((await owner.call('GET', `/licenses?app=${own._id}`)).json.data.stats.total).toBe(1)
})

test('creates all lines, generates missing keys, and skips existing keys when repeated', async () => {
  const own = await customApp()
  const csv = 'expiresAt,key,note\r\n2027-01-31,GIVEN-KEY-1,one\r\n2027-02-28,,two\r\n'
  const { json } = await importInto(own, csv)
  expect(json.data).toMatchObject({ dryRun: false, created: 2, skipped: 0, failed: 0 })
  const { licenses } = (await owner.call('GET', `/licenses?app=${own._id}&sort=oldest`)).json.data
  expect(licenses).toMatchObject([
    { key: 'GIVEN-KEY-1', note: 'one', expiresAt: '2027-01-31T23:59:59.999Z', status: 'unused' },
    { key: json.data.rows[1].key, note: 'two', expiresAt: '2027-02-28T23:59:59.999Z' },
  ])
  const again = await importInto(own, csv)
  expect(again.json.data).toMatchObject({ created: 1, skipped: 1 })
})

test('imports an exported file into another app', async () => {
  const [from, into] = [await customApp(), await customApp()]
  for (const note of ['-5 degrees', '"quoted", and more', 'plain']) {
    await owner.call('POST', '/licenses', { app: from._id, expiresAt: on.clock.inDays(50), note })
  }
  const csv = String((await owner.call('GET', `/licenses/export?format=csv&app=${from._id}`)).raw)
  const { json } = await importInto(into, csv)
  expect(json.data).toMatchObject({ created: 3, failed: 0 })
  const rows = async ({ _id }: { _id: string }) =>
    (await owner.call('GET', `/licenses?app=${_id}`)).json.data.licenses
      .map(({ key, note, expiresAt }: License) => ({ key, note, expiresAt }))
      .sort((a: License, b: License) => a.key.localeCompare(b.key))
  expect(await rows(into)).toEqual(await rows(from))
})

test('an exported file with customers imports as licenses without one', async () => {
  const [from, into] = [await customApp(), await customApp()]
  const email = 'erased@import.example'
  const sold = { app: from._id, expiresAt: on.clock.inDays(50), customer: email }
  const { license } = (await owner.call('POST', '/licenses', sold)).json.data
  const csv = String((await owner.call('GET', `/licenses/export?format=csv&app=${from._id}`)).raw)
  expect(csv).toContain(email)
  await owner.call('DELETE', `/customers/${license.customer}`)
  for (const dryRun of [true, false]) {
    const { json } = await importInto(into, csv, dryRun)
    expect(json.data).toMatchObject({ created: 1, failed: 0 })
    expect(json.data.ignoredColumns).toContain('customer')
  }
  const { licenses } = (await owner.call('GET', `/licenses?app=${into._id}`)).json.data
  expect(licenses).toMatchObject([{ key: license.key, customer: null }])
  expect((await owner.call('GET', `/customers?search=${email}`)).json.data.customers).toEqual([])
})

test('imports 5,000 lines and rejects 5,001', async () => {
  const own = await makeApp(owner, 'Large')
  const lines = (count: number) => `expiresAt\n${'2027-01-31\n'.repeat(count)}`
  expect((await importInto(own, lines(5001))).status).toBe(400)
  const { json } = await importInto(own, lines(5000))
  expect(json.data.created).toBe(5000)
  expect((await owner.call('GET', `/licenses?app=${own._id}`)).json.data.stats.total).toBe(5000)
})

test('keeps the values and the order of many lines', async () => {
  const own = await makeApp(owner, 'Many')
  const notes = Array.from({ length: 120 }, (_, at) => `Ann "${at}" \\ {null} 😀`)
  const lines = notes.map(
    (note, at) => `2027-01-31,"${note.replaceAll('"', '""')}",${at + 1},pro beta,${at % 2 === 0}`,
  )
  const { json } = await importInto(own, ['expiresAt,note,devices,features,banned', ...lines].join('\n'))
  expect(json.data.created).toBe(120)
  const { licenses } = (await owner.call('GET', `/licenses?app=${own._id}&limit=200`)).json.data
  const seen = licenses.toReversed().map((one: License) => [one.note, one.devices, one.features, one.banned])
  expect(seen).toEqual(notes.map((note, at) => [note, at + 1, ['pro', 'beta'], at % 2 === 0]))
  expect(licenses.map((one: License) => one.key).toReversed()).toEqual(
    json.data.rows.map((row: { key: string }) => row.key),
  )
})

test('accepts keys only if the app allows custom keys', async () => {
  const own = await makeApp(owner, 'Strict')
  const { json } = await importInto(own, 'key,expiresAt\nGIVEN-KEY-1,2027-01-31', true)
  expect(json.data.rows[0]).toMatchObject({
    outcome: 'error',
    message: 'This application does not allow custom license keys',
  })
})

test('applies the plan limit, and a dry run reports the lines beyond it', async () => {
  const free = await signUp(on)
  const own = await makeApp(free)
  await makeLicenses(on, free, own, 28)
  const csv = `expiresAt\n${'2027-01-31\n'.repeat(3)}`
  const dry = await importInto(own, csv, true, free)
  expect(dry.json.data.rows.map((row: { outcome: string }) => row.outcome)).toEqual([
    'created',
    'created',
    'error',
  ])
  const real = await importInto(own, csv, false, free)
  expect([real.status, real.json.code]).toEqual([403, 'plan_limit_reached'])
  const two = `expiresAt\n${'2027-01-31\n'.repeat(2)}`
  const answers = await Promise.all([1, 2, 3].map(() => importInto(own, two, false, free)))
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 403, 403])
  expect((await free.call('GET', '/licenses')).json.data.stats.total).toBe(30)
})

test('concurrent imports of the same keys create each key once', async () => {
  const own = await customApp()
  const csv = 'key,expiresAt\nRACE-KEY-1,2027-01-31\nRACE-KEY-2,2027-01-31'
  const answers = await Promise.all(Array.from({ length: 6 }, () => importInto(own, csv)))
  const created = answers.map((answer) => answer.json.data.created).sort()
  expect(created).toEqual([0, 0, 0, 0, 0, 2])
})

test.each([
  ['no expiry column', 'key,note\na,b', 'csv'],
  ['an unclosed quote', 'expiresAt\n"2027-01-31', 'csv'],
  ['no content', '', 'csv'],
])('rejects a file with %s', async (_name, csv, path) => {
  const { status, json } = await importInto(await makeApp(owner), csv)
  expect([status, json.errors[0].path]).toEqual([400, path])
})

test("rejects an import into another owner's app like a missing one", async () => {
  const other = await signUp(on)
  const theirs = await importInto(await makeApp(owner), 'expiresAt\n2027-01-31', true, other)
  expect(theirs.status).toBe(404)
})

test('imports what licenses are sold with from an export, with and without their type', async () => {
  const [from, into, typed] = [await customApp(), await customApp(), await customApp()]
  const pro = {
    name: 'Pro, yearly',
    graceDays: 7,
    devices: -1,
    seats: 4,
    seatTimeoutSeconds: 90,
    features: ['pro', 'export'],
    updatesForDays: 365,
    trial: true,
  }
  const type = await makeType(owner, from, pro)
  const kept = await makeType(owner, typed, { name: pro.name.toUpperCase() })
  const sell = (body: object) => owner.call('POST', '/licenses', { app: from._id, ...body })
  await sell({ type: type._id })
  await sell({ expiresAt: null })
  await sell({ duration: { value: 1, unit: 'years' } })
  await sell({ expiresAt: on.clock.inDays(9) })
  const started = (await sell({ type: type._id })).json.data.license
  await (await startProgram(on, from)).call('POST', '/license', { licenseKey: started.key })
  const csv = String((await owner.call('GET', `/licenses/export?format=csv&app=${from._id}`)).raw)
  const rows = async ({ _id }: { _id: string }): Promise<License[]> =>
    (await owner.call('GET', `/licenses?app=${_id}`)).json.data.licenses
      .map(
        ({ _id: __, app: ___, buyReference: ____, used, usedBy, usedAt, status, ...license }: License) =>
          license,
      )
      .sort((a: License, b: License) => a.key.localeCompare(b.key))
  const originals = await rows(from)
  for (const target of [into, typed]) {
    expect((await importInto(target, csv)).json.data).toMatchObject({ created: 5, failed: 0 })
    const expected = originals.map((license) => ({
      ...license,
      type: target === typed && license.type ? { _id: kept._id, name: kept.name } : null,
    }))
    expect(await rows(target)).toEqual(expected)
  }
})

test('a banned license stays banned when its export is imported into another app', async () => {
  const [from, into] = [await customApp(), await customApp()]
  const [plain, banned, silent] = await makeLicenses(on, owner, from, 3)
  const ban = (license: { _id: string } | undefined, body: object) =>
    owner.call('PATCH', `/licenses/${license?._id}/toggle-ban`, body)
  await ban(banned, { reason: 'Charged back, "twice"' })
  await ban(silent, {})
  const csv = String((await owner.call('GET', `/licenses/export?format=csv&app=${from._id}`)).raw)
  const dry = (await importInto(into, csv, true)).json.data
  expect(dry).toMatchObject({ created: 3, failed: 0 })
  const bans = dry.rows.map(({ key, sold }: { key: string; sold: object }) => [key, sold])
  expect(Object.fromEntries(bans)).toMatchObject({
    [plain?.key ?? '']: { banned: 'false' },
    [banned?.key ?? '']: { banned: 'true', banReason: 'Charged back, "twice"' },
    [silent?.key ?? '']: { banned: 'true' },
  })
  expect((await importInto(into, csv)).json.data).toMatchObject({ created: 3, failed: 0 })
  const { licenses, stats } = (await owner.call('GET', `/licenses?app=${into._id}`)).json.data
  expect(stats).toMatchObject({ total: 3, banned: 2 })
  const found = (key: string | undefined) => licenses.find((license: License) => license.key === key)
  expect(found(plain?.key)).toMatchObject({ banned: false, banReason: null, status: 'unused' })
  expect(found(banned?.key)).toMatchObject({
    banned: true,
    banReason: 'Charged back, "twice"',
    status: 'banned',
  })
  expect(found(silent?.key)).toMatchObject({ banned: true, banReason: null })
  const check = { appId: into.appId, licenseKey: banned?.key }
  expect((await on.call('POST', '/client/validate', { body: check })).json.data.code).toBe('keyBanned')
})

test('imports durations, types and missing columns by their defaults', async () => {
  const own = await customApp()
  const type = await makeType(owner, own, { name: 'Team', devices: 5, keyPrefix: 'TEAM', graceDays: 3 })
  const csv = [
    'duration,type,expiresAt,note',
    '30 days,,,a',
    '1 Year,,,b',
    ',team,,c',
    '6 months,Team,,d',
    ',Team,2027-01-31,e',
    ',Unknown,2027-01-31,f',
  ].join('\n')
  expect((await importInto(own, csv)).json.data).toMatchObject({ created: 6, failed: 0 })
  const { licenses } = (await owner.call('GET', `/licenses?app=${own._id}&sort=oldest`)).json.data
  const team = {
    type: { _id: type._id, name: 'Team' },
    devices: 5,
    graceDays: 3,
    key: expect.stringMatching(/^TEAM-/),
  }
  expect(licenses).toMatchObject([
    { ...plainLicense, term: 'first_use', duration: { value: 30, unit: 'days' } },
    { ...plainLicense, term: 'first_use', duration: { value: 1, unit: 'years' } },
    { ...team, term: 'first_use', duration: { value: 30, unit: 'days' } },
    { ...team, term: 'first_use', duration: { value: 6, unit: 'months' } },
    { ...team, term: 'date', expiresAt: '2027-01-31T23:59:59.999Z' },
    { ...plainLicense, expiresAt: '2027-01-31T23:59:59.999Z' },
  ])
})

test.each([
  ['term,expiresAt', 'forever,2027-01-31'],
  ['term', 'first_use'],
  ['term', 'date'],
  ['term', 'weekly'],
  ['duration', '0 days'],
  ['duration', '-5 days'],
  ['duration', '5 weeks'],
  ['duration', '101 years'],
  ['duration,startedAt', '30 days,2026-01-01'],
  ['term,duration,expiresAt', 'first_use,30 days,2027-01-31'],
  ['type', 'No such type'],
  ['expiresAt,devices', '2027-01-31,0'],
  ['expiresAt,devices', '2027-01-31,many'],
  ['expiresAt,graceDays', '2027-01-31,91'],
  ['expiresAt,seats', '2027-01-31,0'],
  ['expiresAt,features', '2027-01-31,pro pro'],
  ['expiresAt,updatesForDays', '2027-01-31,1.5'],
  ['expiresAt,trial', '2027-01-31,maybe'],
  ['expiresAt,banned', '2027-01-31,maybe'],
  ['expiresAt,banned,banReason', '2027-01-31,false,Charged back'],
  ['expiresAt,banned,banReason', `2027-01-31,true,${'x'.repeat(201)}`],
])('reports the mistake of a line with %s as %s', async (header, line) => {
  const own = await customApp()
  const { json } = await importInto(own, `${header}\n${line}\n`, true)
  expect(json.data).toMatchObject({
    created: 0,
    failed: 1,
    rows: [{ outcome: 'error', message: expect.any(String) }],
  })
})

test('prepares only four of many large imports at once', async () => {
  const rows = 60
  const own = await customApp()
  const csvOf = (name: number) =>
    [
      'key,expiresAt',
      ...Array.from({ length: rows }, (_, at) => `AHEAD-${name}-${at + 100},2027-01-31`),
    ].join('\n')
  const { db, lists } = on.database
  // Two queries look for existing keys.
  const asked = vi.spyOn(lists, 'selectFrom')
  const prepared = () => asked.mock.calls.filter(([table]) => table === 'licenses').length / 2
  const isLocked = Promise.withResolvers<void>()
  const isFree = Promise.withResolvers<void>()
  const holding = db.transaction().execute(async (tx) => {
    await tx.updateTable('apps').set({ name: 'Imported' }).where('id', '=', own._id).execute()
    isLocked.resolve()
    await isFree.promise
  })
  await isLocked.promise
  const imports = Array.from({ length: 6 }, (_, at) => importInto(own, csvOf(at)))
  await expect.poll(prepared).toBeGreaterThanOrEqual(4)
  await pause(500)
  expect(prepared()).toBe(4)
  isFree.resolve()
  await holding
  expect((await Promise.all(imports)).map(({ json }) => json.data.created)).toEqual(Array(6).fill(rows))
  expect(prepared()).toBe(6)
  asked.mockRestore()
})

test('reads what a spreadsheet of another language makes of an export', async () => {
  const lines = [
    'sep=;',
    'KEY;NOTE;TERM;EXPIRESAT;BANNED;TRIAL;DEVICES;BANREASON',
    'LANGUAGE-1;"two\nlines";date;31.12.2030;FALSCH;FALSCH;3,0;',
    'LANGUAGE-2;;date;1924991999;1;FAUX;unlimited;Shared',
    'LANGUAGE-3;;;lifetime;VERO;FALSO;1;Shared',
    'LANGUAGE-4;;date;31/12/2030 10:00;false;no;1;',
    'LANGUAGE-5;;date;03/04/2030;false;no;1;',
    'LANGUAGE-6;;date;31.12.2030;false;no;1.000;',
  ]
  const { json } = await importInto(await customApp(), lines.join('\r\n'), true)
  const rows = json.data.rows.map(
    (row: { key: string; outcome: string; expiresAt: string | null; note: string | null }) => [
      ...[row.key, row.outcome, row.expiresAt?.slice(0, 10) ?? null, row.note],
    ],
  )
  expect(rows).toEqual([
    ['LANGUAGE-1', 'created', '2030-12-31', 'two lines'],
    ['LANGUAGE-2', 'created', '2030-12-31', null],
    ['LANGUAGE-3', 'created', null, null],
    ['LANGUAGE-4', 'created', '2030-12-31', null],
    ['LANGUAGE-5', 'error', null, null],
    ['LANGUAGE-6', 'error', null, null],
  ])
})
