import { limits } from '@keyward/contract'
import { decodeFile } from '@keyward/contract/imported-files'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ImportedLicense, type ImportedUser, type ReadInput, UnreadableFiles } from '../rows.ts'
import { addKeyAuthFile, noEntries } from './keyauth-files.ts'
import { readFiles } from './read-files.ts'

const now = Date.UTC(2026, 10, 24)
const bcrypt = '$2y$10$PMVE3L.XXdURnV8LirvwY.3adQybhxo9Jb77uH8n5OzEJq6y1QCRS'
const usersFile = {
  users: [
    {
      username: 'frodo',
      email: '627a5e949b5a50d1be2e19fdb43b6bb6b2ab2983',
      password: bcrypt,
      hwid: 'hwid-1-aaaaaaaaaaaaaaaa',
      banned: null,
      ip: '203.0.113.9',
    },
    {
      username: 'sam',
      email: null,
      password: null,
      hwid: 'hwid-a-aaaaaaaaaaaaaaaahwid-b-bbbbbbbbbbbbbbbb',
      banned: 'chargeback',
      ip: null,
    },
    { username: 'KA-BBBB-2', email: null, password: bcrypt, hwid: null, banned: null, ip: null },
  ],
  subscription: [
    { user: 'frodo', subscription: 'default', expiry: '1797882772' },
    { user: 'frodo', subscription: 'default', expiry: '1797000000' },
    { user: 'sam', subscription: 'default', expiry: '86400' },
    { user: 'KA-BBBB-2', subscription: 'default', expiry: '2110000000' },
  ],
}
const keysFile = [
  { key: 'KA-AAAA-1', level: '1', expiry: 30 },
  { key: 'KA-BBBB-2', level: '1', expiry: 30 },
  { key: 'KA-CCCC-3', level: '1', expiry: 0.041666666666666664 },
  { key: 'KA-DDDD-4', level: '2', expiry: 3652.421990740741 },
]

const read = (
  preset: ReadInput['preset'],
  files: Record<string, unknown>,
  more: Partial<Pick<ReadInput, 'mapping' | 'answers'>> = {},
) => {
  const list = Object.entries(files).map(([name, content]) => ({
    name,
    content: typeof content === 'string' ? content : JSON.stringify(content),
  }))
  const { rows, questions } = readFiles({ preset, files: list, mapping: {}, answers: {}, ...more }, now)
  return {
    rows,
    questions: Object.fromEntries(questions.map(({ name, rows }) => [name, rows])),
    users: rows.filter((row): row is ImportedUser => row.kind === 'user'),
    licenses: rows.filter((row): row is ImportedLicense => row.kind === 'license'),
  }
}
const problemOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableFiles)
    return (error as Error).message
  }
  return undefined
}

test('joins users and keys of KeyAuth: a key with the name of a user is used, the others are asked for', () => {
  const both = { 'users.json': usersFile, 'keys.json': keysFile }
  const { users, licenses, questions } = read('keyauth', both)
  expect(users).toEqual([
    {
      ...{ kind: 'user', file: 'users.json', line: 1, username: 'frodo', passwordHash: bcrypt },
      emailSha1: '627a5e949b5a50d1be2e19fdb43b6bb6b2ab2983',
      devices: ['hwid-1-aaaaaaaaaaaaaaaa'],
      end: { at: 1_797_882_772_000 },
      hint: 'The latest of 2 subscriptions is taken.',
    },
    {
      ...{ kind: 'user', file: 'users.json', line: 2, username: 'sam', banReason: 'chargeback' },
      gluedDevices: 'hwid-a-aaaaaaaaaaaaaaaahwid-b-bbbbbbbbbbbbbbbb',
      pausedSeconds: 86_400,
    },
    {
      ...{ kind: 'user', file: 'users.json', line: 3, username: 'KA-BBBB-2', passwordHash: bcrypt },
      keys: ['KA-BBBB-2'],
      end: { at: 2_110_000_000_000 },
    },
  ])
  const skip = 'The files do not say whether it is used'
  expect(licenses).toEqual([
    {
      kind: 'license',
      file: 'keys.json',
      line: 1,
      key: 'KA-AAAA-1',
      status: 'unused',
      end: { seconds: 2_592_000 },
      skip,
    },
    {
      kind: 'license',
      file: 'keys.json',
      line: 2,
      key: 'KA-BBBB-2',
      status: 'used',
      end: { seconds: 2_592_000 },
      usedBy: 'KA-BBBB-2',
    },
    {
      kind: 'license',
      file: 'keys.json',
      line: 3,
      key: 'KA-CCCC-3',
      status: 'unused',
      end: { seconds: 3600 },
      skip,
    },
    {
      kind: 'license',
      file: 'keys.json',
      line: 4,
      key: 'KA-DDDD-4',
      status: 'unused',
      type: '2',
      end: 'never',
      skip,
    },
  ])
  expect(questions).toEqual({ keysWithoutStatus: 3, longEnds: 1 })
  const answered = read('keyauth', both, { answers: { keysWithoutStatus: 'unused', longEnds: 'never' } })
  expect(answered.licenses.map(({ skip }) => skip)).toEqual([undefined, undefined, undefined, undefined])
  expect(answered.users[2]?.end).toBe('never')
})

test('takes status, users and level names of seller API answers, and never the secret of the app', () => {
  const app = '6c1c5677ee7740103a2969bbb60094bf53ad53b500f5baf80e635bc38ffd9e49'
  const key = { id: 1, note: 'Order 7', level: '2', genby: 'mgr', gendate: '1790000000', app, banned: null }
  const seller = {
    'keys.json': {
      success: true,
      message: 'ok',
      keys: [
        { ...key, key: 'KA-AAAA-1', expires: '2592000', status: 'Not Used', usedon: null, usedby: null },
        {
          ...key,
          key: 'KA-EEEE-5',
          expires: '315569260',
          status: 'Used',
          usedon: '1790000000',
          usedby: 'Frodo',
        },
        { ...key, key: 'KA-FFFF-6', expires: '86400', status: 'Banned', banned: 'chargeback', usedby: null },
        {
          ...key,
          key: 'KA-GGGG-7',
          expires: '86400',
          status: 'Used',
          usedon: '1790000000',
          usedby: 'gollum',
        },
      ],
    },
    'users.json': {
      success: true,
      users: [
        {
          id: 1,
          username: 'frodo',
          email: null,
          password: bcrypt,
          hwid: null,
          app,
          owner: 'x',
          banned: null,
        },
      ],
    },
    'subs.json': { success: true, subs: [{ name: 'premium', level: '2' }] },
    'frodo.json': {
      ...{ success: true, username: 'frodo', password: bcrypt },
      subscriptions: [{ subscription: 'premium', key: 'KA-EEEE-5', expiry: '1797882772' }],
    },
  }
  const { users, licenses, rows, questions } = read('keyauth', seller)
  expect(users[0]).toMatchObject({ username: 'frodo', keys: ['KA-EEEE-5'], end: { at: 1_797_882_772_000 } })
  expect(users[1]).toMatchObject({ skip: 'The same username is in users.json, 1' })
  expect(licenses).toMatchObject([
    { key: 'KA-AAAA-1', status: 'unused', type: 'premium', note: 'Order 7', end: { seconds: 2_592_000 } },
    { key: 'KA-EEEE-5', status: 'used', usedBy: 'frodo', end: 'never' },
    { key: 'KA-FFFF-6', status: 'banned', banReason: 'chargeback' },
    { key: 'KA-GGGG-7', skip: 'Used by an end user who is not in the files' },
  ])
  expect(questions).toEqual({})
  expect(JSON.stringify(rows)).not.toContain(app)
})

test('lets a list with statuses decide about the keys of an export', () => {
  const full = { keys: [{ key: 'KA-AAAA-1', level: '1', expires: '60', status: 'Banned', banned: 'resold' }] }
  const { licenses } = read('keyauth', { 'a.json': keysFile.slice(0, 1), 'b.json': full })
  expect(licenses).toMatchObject([{ key: 'KA-AAAA-1', status: 'banned', banReason: 'resold' }])
})

test('takes a users file of an app without users, and asks for its keys', () => {
  const empty = { users: [], subscription: [] }
  const { users, licenses, questions } = read('keyauth', { 'users.json': empty, 'keys.json': keysFile })
  expect([users.length, licenses.length]).toEqual([0, 4])
  expect(questions).toMatchObject({ keysWithoutStatus: 4 })
  expect(problemOf(() => read('keyauth', { 'users.json': empty }))).toBe(
    'The files hold no licenses and no end users',
  )
  const entries = noEntries()
  expect([addKeyAuthFile(entries, 'u.json', JSON.stringify(empty), 10), entries.hasUsers]).toEqual([
    true,
    true,
  ])
  expect(problemOf(() => read('keyauth', { 'a.json': { others: [] } }))).toMatch(/is not a file of KeyAuth/)
})

test('reads the older text forms in one line or in several', () => {
  const keys = 'KA-AAAA-1,1,30|frodo,2,0.5|\r\nKA-CCCC-3,1,9999|broken|'
  const users = 'frodo,hwid-1,with comma,30|sam,N/A,0|'
  const { licenses, users: people } = read('keyauth', { 'keys.txt': keys, 'users.txt': users })
  expect(licenses).toMatchObject([
    { key: 'KA-AAAA-1', end: { seconds: 2_592_000 } },
    { key: 'frodo', status: 'used', usedBy: 'frodo', type: '2' },
    { key: 'KA-CCCC-3', end: 'never' },
    { line: 4, problem: 'The entry does not have three parts' },
  ])
  expect(people).toMatchObject([
    { username: 'frodo', devices: ['hwid-1,with comma'], end: { seconds: 2_592_000 }, keys: ['frodo'] },
    { username: 'sam', end: { at: now } },
  ])
})

test('reports names that differ only by case or accents, and repeated ones', () => {
  const users = ['Éowyn', 'eowyn', 'Éowyn'].map((username) => ({ username, password: bcrypt }))
  expect(read('keyauth', { 'u.json': { users, subscription: [] } }).users).toMatchObject([
    { username: 'Éowyn' },
    { username: 'eowyn', problem: 'Éowyn in u.json, 1 differs only by case or accents' },
    { username: 'Éowyn', skip: 'The same username is in u.json, 1' },
  ])
})

test('splits glued hardware ids only where it is certain', () => {
  const sid = 'S-1-5-21-1111111111-2222222222-3333333333-1001'
  const other = 'S-1-5-21-1111111111-2222222222-3333333333-1002'
  const uuid = '4c4c4544-0042-3510-8052-b4c04f4d3732'
  const users = [
    `${sid}${other}`,
    'hwid-1hwid-1',
    'aaaaaaaa-hwidaaaaaaaa-hwid',
    `${'0'.repeat(32)}${'1'.repeat(32)}${'2'.repeat(32)}`,
    `${uuid}${uuid.replace('4', '5')}`,
    'a'.repeat(31) + 'b'.repeat(33),
    `${sid}\n`,
    'N/A',
  ].map((hwid, at) => ({ username: `user${at}`, hwid }))
  const read_ = read('keyauth', { 'u.json': { users, subscription: [] } }).users
  expect(read_.map(({ devices, gluedDevices }) => devices ?? gluedDevices)).toEqual([
    [sid, other],
    ['hwid-1hwid-1'],
    ['aaaaaaaa-hwid'],
    ['0'.repeat(32), '1'.repeat(32), '2'.repeat(32)],
    [uuid, uuid.replace('4', '5')],
    ['a'.repeat(31) + 'b'.repeat(33)],
    [sid],
    undefined,
  ])
})

const keygenPage = (data: unknown[]) => ({ data, links: { next: null } })
const license = (id: string, attributes: object, relationships: object = {}) => ({
  id,
  type: 'licenses',
  attributes: {
    name: null,
    key: `KEY-${id}`,
    expiry: null,
    status: 'ACTIVE',
    suspended: false,
    ...attributes,
  },
  relationships,
})

test('joins pages of Keygen: machines and people belong to licenses', () => {
  const owner = { owner: { data: { type: 'users', id: 'u1' } } }
  const files = {
    'licenses.json': [
      keygenPage([license('a', { expiry: '2027-01-31T00:00:00.000Z', maxMachines: 1 }, owner)]),
      keygenPage([license('b', { status: 'SUSPENDED', suspended: true, maxMachines: null })]),
    ],
    'machines.json': `${JSON.stringify(keygenPage([{ id: 'm', type: 'machines', attributes: { fingerprint: 'fp-1\n' }, relationships: { license: { data: { id: 'a' } } } }]))}\n${JSON.stringify(keygenPage([]))}`,
    'users.json': keygenPage([{ id: 'u1', type: 'users', attributes: { email: 'frodo@shire.example' } }]),
  }
  const { licenses, questions } = read('keygen', files)
  expect(licenses).toEqual([
    {
      ...{ kind: 'license', file: 'licenses.json', line: 1, key: 'KEY-a', status: 'unused', reference: 'a' },
      ...{
        devices: ['fp-1'],
        devicesMax: 1,
        end: { at: Date.UTC(2027, 0, 31) },
        note: 'frodo@shire.example',
      },
    },
    {
      ...{ kind: 'license', file: 'licenses.json', line: 1, key: 'KEY-b', status: 'banned', reference: 'b' },
      ...{ banReason: 'Suspended', devicesMax: -1, end: 'never' },
    },
  ])
  expect(questions).toEqual({ people: 1 })
  expect(read('keygen', files, { answers: { people: 'users' } }).users).toMatchObject([
    { username: 'frodo@shire.example', email: 'frodo@shire.example', end: { at: Date.UTC(2027, 0, 31) } },
  ])
})

test('reads lists of Cryptlex and Lukittu', () => {
  const cryptlex = [
    {
      id: 'c1',
      key: '0A2035-E8A2A3',
      revoked: true,
      suspended: false,
      allowedActivations: 3,
      expiresAt: null,
    },
    { id: 'c2', key: '0A2035-E8A2A4', revoked: false, allowedActivations: 0, subscriptionInterval: 'P1Y' },
  ]
  expect(read('cryptlex', { 'l.json': cryptlex }).licenses).toMatchObject([
    { key: '0A2035-E8A2A3', status: 'banned', banReason: 'Revoked', devicesMax: 3, end: 'never' },
    { key: '0A2035-E8A2A4', status: 'unused', end: { seconds: 365 * 86_400 } },
  ])
  const lukittu = {
    data: [
      { id: 'l1', licenseKey: 'AAAAA-BBBBB', hwidLimit: 2, expirationType: 'DURATION', expirationDays: 30 },
      { id: 'l2', licenseKey: 'AAAAA-CCCCC', expirationType: 'DATE', expirationDate: '2027-01-31T00:00:00Z' },
    ],
  }
  expect(read('lukittu', { 'l.json': lukittu }).licenses).toMatchObject([
    { key: 'AAAAA-BBBBB', devicesMax: 2, end: { seconds: 2_592_000 } },
    { key: 'AAAAA-CCCCC', end: { at: Date.UTC(2027, 0, 31) } },
  ])
})

test('reads LicenseGate, and keeps what is not active banned', () => {
  const one = {
    id: 7,
    licenseKey: 'LG-1',
    active: true,
    name: 'Ada',
    notes: 'Order 7',
    ipLimit: 2,
    expirationDate: null,
  }
  const licenses = [
    one,
    {
      ...one,
      id: 8,
      licenseKey: 'LG-2',
      active: false,
      notes: '',
      expirationDate: '2027-01-31T00:00:00.000Z',
    },
  ]
  expect(read('licensegate', { 'l.json': { licenses } }).licenses).toMatchObject([
    { key: 'LG-1', status: 'unused', note: 'Ada: Order 7', reference: '7', end: 'never' },
    { key: 'LG-2', status: 'banned', note: 'Ada', end: { at: Date.UTC(2027, 0, 31) } },
  ])
})

test('no suggestion and no answer makes a dead key live', () => {
  const answers = { keysWithoutStatus: 'unused', unknownStatus: 'unused', emptyEnds: 'never' }
  const statusesOf = (text: string) =>
    read('table', { 'l.csv': text }, { answers }).licenses.map(({ key, status, skip }) => [
      key,
      skip ? 'skip' : status,
    ])
  const cases: [string, string[]][] = [
    ['key,active\nA,true\nB,false', ['unused', 'banned']],
    ['Key;Is Active\nA;WAHR\nB;FALSCH', ['unused', 'banned']],
    ['key,enabled\nA,1\nB,0', ['unused', 'banned']],
    ['key,status,banned\nA,active,false\nB,active,true', ['unused', 'banned']],
    ['key,status,used,banned\nA,active,true,true\nB,unused,false,false', ['banned', 'unused']],
    ['key,status,banned\nA,active,Chargeback\nB,active,', ['banned', 'unused']],
    ['key,status,revoked\nA,active,VERO\nB,active,FALSO', ['banned', 'unused']],
    ['key,status,used\nA,active,VRAI\nB,active,FAUX', ['skip', 'unused']],
    ['key,status\nA,expired\nB,unused', ['skip', 'unused']],
  ]
  for (const [text, expected] of cases)
    expect([text, statusesOf(text).map(([, status]) => status)]).toEqual([text, expected])
})

test('reads any CSV by its columns: delimiters, quotes, line ends, marks, formula cells', () => {
  const lines = [
    'Key;Expires;Note;Status',
    '"A-""1""";31.12.2027;\'=1+1;unused',
    'B-2;2027-12-31;a"b;Banned',
    'C-3;1830211200;;unused',
  ]
  for (const end of ['\n', '\r\n', '\r']) {
    const { licenses } = read('table', { 'l.csv': `\uFEFF${lines.join(end)}` })
    expect(licenses).toMatchObject([
      { line: 2, key: 'A-"1"', status: 'unused', note: '=1+1', end: { at: Date.UTC(2028, 0, 1) - 1000 } },
      { line: 3, key: 'B-2', status: 'banned', note: 'a"b', end: { at: Date.UTC(2028, 0, 1) - 1000 } },
      { line: 4, key: 'C-3', end: { at: 1_830_211_200_000 } },
    ])
  }
})

test('reads a table without names of columns, with a mapping', () => {
  const content = 'sep=|\nK-1001|30|new\nK-1002|lifetime|used\nK-1003|x|new\nK-1004||new'
  const mapping = { key: 'Column 1', duration: 'Column 2', status: 'Column 3' }
  const { licenses, questions } = read('table', { 'l.csv': content }, { mapping })
  expect(licenses).toMatchObject([
    { line: 2, key: 'K-1001', end: { seconds: 2_592_000 } },
    { line: 3, key: 'K-1002', skip: 'Used by an end user who is not in the files', end: 'never' },
    { line: 4, problem: 'The duration is not a number of days' },
    { line: 5, skip: 'It has no end' },
  ])
  expect(questions).toEqual({ emptyEnds: 1 })
})

test('asks which part of a date is first only where both readings are dates', () => {
  const content = 'key,expires,status\nK-1,03/04/2027,new\nK-2,25/04/2027,new\nK-3,31/31/2027,new'
  const { licenses, questions } = read('table', { 'l.csv': content })
  expect(questions).toEqual({ dateOrder: 1 })
  expect(licenses[0]?.end).toEqual({ at: Date.UTC(2027, 3, 4) - 1000 })
  expect(licenses[1]?.end).toEqual({ at: Date.UTC(2027, 3, 26) - 1000 })
  expect(licenses[2]?.problem).toBeDefined()
  const month = read('table', { 'l.csv': content }, { answers: { dateOrder: 'month' } })
  expect(month.licenses[0]?.end).toEqual({ at: Date.UTC(2027, 2, 5) - 1000 })
})

test('makes an end user and its license of a row with both', () => {
  const content = JSON.stringify({
    items: [{ user: { name: 'frodo' }, serial: 'K-1', pw: bcrypt, days: 30, hwid: 'a,b' }],
  })
  const mapping = {
    username: 'user.name',
    key: 'serial',
    password: 'pw',
    duration: 'days',
    device: 'hwid',
  } as const
  const { users, licenses } = read('table', { 'l.json': content }, { mapping })
  expect(users).toMatchObject([
    { username: 'frodo', keys: ['K-1'], passwordHash: bcrypt, devices: ['a', 'b'] },
  ])
  expect(licenses).toMatchObject([{ key: 'K-1', status: 'used', usedBy: 'frodo' }])
})

test('says which preset fits a file of another system', () => {
  const keyauth = { 'u.json': usersFile }
  const keygen = { 'k.json': keygenPage([license('a', {})]) }
  expect(problemOf(() => read('keygen', keyauth))).toBe(
    'u.json is not a file of Keygen. It looks like KeyAuth.',
  )
  expect(problemOf(() => read('keyauth', keygen))).toBe(
    'k.json is not a file of KeyAuth. It looks like Keygen.',
  )
  expect(problemOf(() => read('keyauth', { 'l.csv': 'key,note\nA,b' }))).toMatch(/looks like another list/)
  expect(problemOf(() => read('table', { 'l.csv': 'a,b\n1,2' }))).toMatch(/Choose which column/)
  expect(problemOf(() => read('table', { 'l.csv': 'key,b\n1,2' }, { mapping: { key: 'Key' } }))).toBeDefined()
})

test('decodes UTF-8, UTF-16 and Windows files, and refuses spreadsheets', () => {
  const utf16 = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le'))
  expect(decodeFile(new TextEncoder().encode('\uFEFFä'))).toEqual({ text: 'ä', guessed: false })
  expect(decodeFile(utf16('\uFEFFkey,ä'))).toEqual({ text: 'key,ä', guessed: false })
  expect(decodeFile(utf16('key,note'))).toEqual({ text: 'key,note', guessed: false })
  expect(decodeFile(new Uint8Array(Buffer.from('\uFEFFkey', 'utf16le').swap16()))).toEqual({
    text: 'key',
    guessed: false,
  })
  expect(decodeFile(new Uint8Array([0x6b, 0xe4]))).toEqual({ text: 'kä', guessed: true })
  expect(decodeFile(new Uint8Array([0x50, 0x4b, 3, 4, 0]))).toHaveProperty('problem')
})

test('says that a file is not UTF-8', () => {
  const content = Buffer.from('key,note', 'utf16le').toString('utf8')
  expect(problemOf(() => read('table', { 'l.csv': content }))).toBe(
    'l.csv is not UTF-8. Save it as UTF-8 first.',
  )
})

test('reports names that no database stores', () => {
  const users = [
    { username: 'a\0b' },
    { username: '\ud800x' },
    { username: 'x'.repeat(71) },
    { username: ' \0frodo\n' },
  ]
  const { users: read_ } = read('keyauth', { 'u.json': JSON.stringify({ users, subscription: [] }) })
  expect(read_.map(({ problem }) => problem !== undefined)).toEqual([true, true, true, false])
  expect(read_[3]?.username).toBe('frodo')
  expect(read_.every(({ username }) => username.isWellFormed() && !username.includes('\0'))).toBe(true)
})

test('takes members of JSON objects as they are, whatever their names', () => {
  const content =
    '[{"__proto__":{"key":"K"},"constructor":"c","key":"K-1","level":"1","expiry":1,"toString":1}]'
  expect(read('keyauth', { 'k.json': content }).licenses).toMatchObject([{ key: 'K-1' }])
  const table = read('table', { 'k.json': content }, { mapping: { key: 'key', note: 'constructor' } })
  expect(table.licenses).toMatchObject([{ key: 'K-1', note: 'c' }])
  expect(({} as { key?: string }).key).toBeUndefined()
  const answers = JSON.parse('{"__proto__":"x"}') as Record<string, string>
  expect(read('table', { 'k.json': '[{"key":"K-1"}]' }, { answers }).questions).toMatchObject({
    emptyEnds: 1,
  })
})

const presets = ['keyauth', 'keygen', 'cryptlex', 'lukittu', 'table'] as const

test.each([
  ['brackets', '['],
  ['braces', '{"a":'],
  ['quotes', '"'],
  ['empty lists', '[],'],
  ['line ends', '\n'],
  ['commas', ','],
  ['escapes', '[" \\'],
  ['bars', 'a,1,1|'],
  ['closing brackets', ']'],
  ['pairs', '"a"",'],
])('survives megabytes of %s in any preset', (_name, piece) => {
  // What a file can have at most, for the one that a parser keeps in memory; a part of it for others.
  const bytes = piece === '[' ? limits.importFileBytesMax : 4_194_304
  const content = piece.repeat(Math.floor(bytes / piece.length))
  for (const preset of piece === '[' ? ['keyauth' as const] : presets) {
    try {
      const { rows } = readFiles({ preset, mapping: {}, answers: {}, files: [{ name: 'f', content }] })
      expect(rows.length).toBeLessThanOrEqual(limits.importedRowsMax)
    } catch (error) {
      expect(error).toBeInstanceOf(UnreadableFiles)
    }
  }
})

test('refuses a record that is nested too deeply or too long, and reads the others', () => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  const content = `[{"key":"K-1","level":"1","expiry":1,"x":${deep}},{"key":"K-2","level":"1","expiry":1},{"key":"${'x'.repeat(2_000_000)}"}]`
  expect(read('keyauth', { 'k.json': content }).licenses).toMatchObject([
    { line: 1, problem: 'The record is nested too deeply' },
    { line: 2, key: 'K-2' },
    { line: 3, problem: 'The record is too long' },
  ])
})

test('reads 200,000 rows and refuses one more', () => {
  const entries = (count: number) =>
    `[${Array.from({ length: count }, (_, at) => `{"key":"K-${at}","level":"1","expiry":30}`).join(',')}]`
  expect(read('keyauth', { 'k.json': entries(200_000) }).rows).toHaveLength(200_000)
  expect(problemOf(() => read('keyauth', { 'k.json': entries(200_001) }))).toMatch(/more than 200000 rows/)
})

test('never throws for rubbish, and returns only what can be stored', () => {
  const scalar = fc.oneof(
    ...[fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant(bcrypt)],
    fc.constantFrom('1797882772', '03/04/2027', 'S-1-5-21-1-1-1', '\ud800', '\0', '-1', '1e999', 'P1Y'),
  )
  const record = fc.dictionary(
    fc.constantFrom(
      ...['key', 'level', 'expiry', 'username', 'hwid', 'password', 'email', 'banned', 'status', 'expires'],
      ...[
        'user',
        'type',
        'attributes',
        'relationships',
        '__proto__',
        'usedby',
        'usedon',
        'id',
        'licenseKey',
        'revoked',
      ],
    ),
    fc.oneof(scalar, fc.dictionary(fc.constantFrom('key', 'expiry', 'id', 'data', 'status'), scalar)),
  )
  const document = fc.oneof(
    fc.array(fc.oneof(record, scalar)),
    fc.dictionary(
      fc.constantFrom('users', 'subscription', 'keys', 'data', 'subs', 'subscriptions', 'username', 'x'),
      fc.oneof(fc.array(fc.oneof(record, scalar)), scalar),
    ),
  )
  const cut = fc
    .tuple(document, fc.nat(400))
    .map(([value, at]) => JSON.stringify(value).slice(0, -at || undefined))
  const rough = fc
    .array(fc.constantFrom(...',;|\t\r\n"\'a1=\0[]{}:\ud800', 'key', 'username', '1797882772'))
    .map((parts) => parts.join(''))
  const content = fc.oneof(
    cut,
    rough,
    fc.string(),
    document.map((value) => JSON.stringify(value)),
  )
  const file = fc.record({ name: fc.constantFrom('a', 'b'), content })
  fc.assert(
    fc.property(
      fc.constantFrom(...presets),
      fc.array(file, { minLength: 1, maxLength: 3 }),
      (preset, files) => {
        try {
          const { rows } = readFiles({ preset, mapping: {}, answers: {}, files })
          for (const row of rows) {
            const name = row.kind === 'user' ? row.username : row.key
            expect(name.isWellFormed() && name.length <= 100 && !/\p{Cc}/u.test(name)).toBe(true)
            expect(row.note?.isWellFormed() ?? true).toBe(true)
            if (row.problem === undefined) expect(name).not.toBe('')
            const end = row.end
            if (typeof end === 'object')
              expect(Number.isFinite('at' in end ? end.at : end.seconds)).toBe(true)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableFiles)
        }
      },
    ),
    { numRuns: 3000 },
  )
})
