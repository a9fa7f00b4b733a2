import { describe, expect, test } from 'vitest'
import { sqliteSyntax } from '../../db/sqlite/dialect.ts'
import { ActivityLog, newReference } from './activity.log.ts'

interface Stored {
  reference: string
  times: number
  kind: string
  subject: string | null
  address: string | null
}

const startLog = (limits = {}, write?: () => Promise<void>) => {
  let now = 1_000_000
  const errors: unknown[] = []
  const rows: Stored[] = []
  const tx = fakeTransaction(rows)
  const log = new ActivityLog({
    clock: { now: () => now },
    write: async (work) => {
      await write?.()
      await work(tx as never)
    },
    onWritten: () => {},
    onError: (error) => errors.push(error),
    limits,
  })
  const note = (more: object = {}) =>
    log.note({ ownerId: 'own_1', appId: 'app_1', kind: 'refused', code: 'userBanned', ...more })
  return { log, note, rows, errors, advance: (ms: number) => (now += ms) }
}

/** Records inserts and updates instead of a database, for a million events in a moment. */
function fakeTransaction(rows: Stored[]) {
  const chain = { onConflict: () => chain, execute: async () => {} }
  const none = { select: () => none, where: () => none, orderBy: () => none, execute: async () => [] }
  const insert = ({ sql, parameters }: { sql: string; parameters: unknown[] }) => {
    const [, names = ''] = /^insert into "activity" \((.+?)\) values/.exec(sql) ?? []
    const columns = names.replaceAll('"', '').split(', ')
    for (let at = 0; at < parameters.length; at += columns.length)
      rows.push(Object.fromEntries(columns.map((name, cell) => [name, parameters[at + cell]])) as never)
    return { rows: [] }
  }
  const connection = { executeTogether: async (statements: never[]) => statements.map(insert) }
  return {
    getExecutor: () => ({
      adapter: { syntax: sqliteSyntax },
      provideConnection: async (read: (one: typeof connection) => unknown) => read(connection),
    }),
    selectFrom: () => none,
    insertInto: () => ({ values: () => chain }),
    updateTable: () => ({
      set: ({ times }: { times: { toOperationNode(): { parameters: { value: number }[] } } }) => ({
        where: (_column: string, _is: string, reference: string) => ({
          execute: async () => {
            const row = rows.find((one) => one.reference === reference)
            if (row) row.times += times.toOperationNode().parameters[0]!.value
          },
        }),
      }),
    }),
  }
}

const total = (rows: { times: number }[]) => rows.reduce((sum, { times }) => sum + times, 0)

describe('a flood of refusals', () => {
  test('of one program fills one row, and every refusal has its reference', async () => {
    const { log, note, rows } = startLog()
    const references = new Set(Array.from({ length: 1_000_000 }, () => note()))
    await log.close()
    expect(references.size).toBe(1)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ reference: [...references][0], times: 1_000_000 })
  })

  test('with ever new names is cut off, and what is lost is counted', async () => {
    const { log, note, rows } = startLog({ perMinute: 100 })
    const references = Array.from({ length: 10_000 }, (_, at) => note({ subject: `name ${at}` }))
    await log.close()
    expect(references.filter((one) => one !== undefined)).toHaveLength(100)
    expect(rows).toHaveLength(101)
    expect(rows.find(({ kind }) => kind === 'dropped')?.times).toBe(9900)
    expect(total(rows)).toBe(10_000)
  })

  test('leaves the sign-ins of the same app', () => {
    const { note } = startLog({ perMinute: 10 })
    for (let at = 0; at < 100; at += 1) note({ subject: `name ${at}` })
    expect(note({ kind: 'end_user.signed_in', code: null })).toBeDefined()
  })

  test('against one app leaves the events of another', () => {
    const { note } = startLog({ perMinute: 10 })
    for (let at = 0; at < 100; at += 1) note({ subject: `name ${at}` })
    expect(note({ appId: 'app_2' })).toBeDefined()
  })

  test('does not outgrow the queue', async () => {
    const never = new Promise<void>(() => {})
    const { note } = startLog({ queued: 50, perMinute: 1000, flushRows: 10 }, () => never)
    const kept = Array.from({ length: 1000 }, (_, at) => note({ subject: `name ${at}` })).filter(Boolean)
    expect(kept.length).toBeLessThanOrEqual(60)
  })
})

describe('a flood from one network', () => {
  const init = { kind: 'init', code: null, address: '203.0.113.7' }

  test('fills 50 rows of an app in an hour, and one more that counts the rest', async () => {
    const { log, note, rows } = startLog()
    for (let at = 0; at < 100_000; at += 1)
      note({ ...init, subject: `1.0.${at}`, address: `203.0.113.${at % 256}` })
    await log.close()
    expect(rows).toHaveLength(51)
    expect(total(rows)).toBe(100_000)
    expect(rows.at(-1)).toMatchObject({ subject: null, address: '203.0.113.0/24', times: 99_950 })
  })

  test('fills no further row for a /64 network of IPv6', async () => {
    const { log, note, rows } = startLog()
    for (let at = 0; at < 1000; at += 1) note({ ...init, subject: `1.0.${at}`, address: '2001:db8:1:2::/64' })
    await log.close()
    expect(rows).toHaveLength(51)
    expect(rows.at(-1)).toMatchObject({ address: '2001:db8:1:2::/64', times: 950 })
  })

  test('leaves rows for other networks, other apps, other kinds and known end users', async () => {
    const { log, note, rows } = startLog()
    for (let at = 0; at < 1000; at += 1) note({ ...init, subject: `1.0.${at}` })
    const honest = [
      { ...init, subject: '2.0.0', address: '198.51.100.1' },
      { ...init, subject: '2.0.0', appId: 'app_2' },
      { address: '203.0.113.7', subject: 'ALICE' },
      { address: '203.0.113.7', clientId: 'usr_1' },
    ]
    const references = honest.map(note)
    await log.close()
    const found = references.map((reference) => rows.find((row) => row.reference === reference))
    expect(found.map((row) => row?.address)).toEqual(honest.map(({ address }) => address))
    expect(found.map((row) => row?.times)).toEqual([1, 1, 1, 1])
  })

  test('is counted by its row while it goes on, and gets rows of its own again after an hour', async () => {
    const { log, note, rows, advance } = startLog()
    const flood = (round: number) => {
      for (let at = 0; at < 60; at += 1) note({ ...init, subject: `${round}.0.${at}` })
    }
    flood(1)
    await log.flush()
    advance(60_000)
    flood(2)
    await log.flush()
    expect([rows.length, rows.at(-1)?.times]).toEqual([51, 10])
    advance(3_540_000)
    flood(3)
    await log.close()
    expect(rows).toHaveLength(102)
    expect(rows[50]).toMatchObject({ address: '203.0.113.0/24', times: 70 })
    expect(total(rows)).toBe(180)
  })
})

test('an end user who signs in from ever new addresses fills 200 rows in an hour, and one more that counts the rest', async () => {
  const { log, note, rows } = startLog()
  const signIn = { kind: 'end_user.signed_in', code: null, clientId: 'usr_1' }
  for (let at = 0; at < 10_000; at += 1) note({ ...signIn, address: `2001:db8:${at.toString(16)}:1::/64` })
  await log.close()
  expect(rows).toHaveLength(201)
  expect(rows.at(-1)).toMatchObject({ address: null, times: 9800 })
})

test.each([
  ['init', { kind: 'init', code: null }],
  ['init, refused', { call: 'init', code: 'hashCheckFail' }],
  ['refusals', { code: 'keyNotFound' }],
  ['sign-ins', { kind: 'end_user.signed_in', code: null }],
])('a flood of %s from many networks leaves what a minute keeps of the other kinds', (_what, flood) => {
  const { note } = startLog({ perMinute: 10 })
  for (let at = 0; at < 100; at += 1) note({ ...flood, address: `203.0.${at}.1` })
  const others = [
    { kind: 'init', code: null },
    { code: 'userBanned', clientId: 'usr_1' },
    { kind: 'end_user.signed_in', code: null, clientId: 'usr_1' },
    { kind: 'device.bound', code: null, clientId: 'usr_1' },
  ]
  expect(others.filter((event) => note({ ...event, address: '198.51.100.1' }) === undefined)).toHaveLength(1)
})

test('what is dropped in a minute is counted in one row', async () => {
  const { log, note, rows, advance } = startLog({ perMinute: 1 })
  for (let round = 0; round < 10; round += 1) {
    for (let at = 0; at < 10; at += 1) note({ subject: `name ${at}`, address: `203.0.${at}.1` })
    await log.flush()
  }
  expect(rows.filter(({ kind }) => kind === 'dropped')).toHaveLength(0)
  advance(60_000)
  note({ subject: 'later' })
  await log.flush()
  expect(rows.filter(({ kind }) => kind === 'dropped').map(({ times }) => times)).toEqual([90])
})

test('counts of a flood that has ended are written without another event', async () => {
  const { note, rows } = startLog({ mergeMs: 20 })
  for (let at = 0; at < 100; at += 1) note()
  await expect.poll(() => rows[0]?.times).toBe(100)
})

test('equal events share a reference for a minute', () => {
  const { note, advance } = startLog()
  const first = note()
  advance(59_999)
  expect(note()).toBe(first)
  expect(note({ address: '203.0.113.7' })).not.toBe(first)
  advance(1)
  expect(note()).not.toBe(first)
})

test('a database that fails costs events, which are counted, and nothing else', async () => {
  let fails = true
  const stored: unknown[] = []
  const { log, note, errors } = startLog({}, async () => {
    if (fails) throw new Error('the disk is full')
    stored.push(1)
  })
  note()
  await log.flush()
  expect(errors).toHaveLength(1)
  fails = false
  note({ subject: 'later' })
  await log.flush()
  expect(stored).toHaveLength(1)
})

test('after a failed write an equal event gets a reference that is stored, and the lost ones are counted', async () => {
  let fails = true
  const { log, note, rows } = startLog({}, async () => {
    if (fails) throw new Error('the disk is full')
  })
  const lost = note()
  note()
  await log.flush()
  fails = false
  const reference = note()
  await log.close()
  expect(reference).not.toBe(lost)
  expect(rows.find(({ kind }) => kind === 'refused')).toMatchObject({ reference, times: 1 })
  expect(rows.find(({ kind }) => kind === 'dropped')).toMatchObject({ times: 2 })
})

test('counts what was dropped after the last write when the server stops', async () => {
  const { log, note, rows } = startLog({ perMinute: 1 })
  note()
  await log.flush()
  note({ subject: 'one too many' })
  await log.close()
  expect(rows.find(({ kind }) => kind === 'dropped')).toMatchObject({ times: 1 })
})

test('keeps no characters that fake a line or that PostgreSQL rejects', async () => {
  const { log, note, rows } = startLog()
  note({ subject: `a\n2026 fake line\u0000\u202e\ud800${'x'.repeat(200)}` })
  await log.close()
  const { subject } = rows[0] as unknown as { subject: string }
  expect(subject).toHaveLength(100)
  expect(subject).toMatch(/^a2026 fake line\ufffdx+$/)
})

test('references are short and do not repeat', () => {
  const some = new Set(Array.from({ length: 10_000 }, newReference))
  expect(some.size).toBe(10_000)
  for (const reference of some) expect(reference).toMatch(/^(?=.*\d)[0-9A-HJKMNP-TV-Z]{10}$/)
})

test('a flood of messages of programs hides nothing else that they do', async () => {
  const { log, note, rows } = startLog({ perMinute: 5 })
  const kinds = ['program.logged', 'device.bound', 'end_user.signed_in', 'refused', 'init']
  for (const kind of kinds)
    for (let at = 0; at < (kind === 'program.logged' ? 50 : 1); at += 1)
      note({ kind, code: null, clientId: `usr_${at}`, subject: `message ${at}` })
  await log.close()
  const stored = Object.groupBy(rows, ({ kind }) => kind)
  expect(kinds.map((kind) => stored[kind]?.length)).toEqual([5, 1, 1, 1, 1])
})
