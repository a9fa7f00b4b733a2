import { describe, expect, test } from 'vitest'
import { ActivityLog, newReference } from './activity.log.ts'

const gathered = (limits = {}, write?: () => Promise<void>) => {
  let now = 1_000_000
  const errors: unknown[] = []
  const rows: { reference: string; times: number; kind: string }[] = []
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
function fakeTransaction(rows: { reference: string; times: number; kind: string }[]) {
  const chain = { onConflict: () => chain, execute: async () => {} }
  return {
    getExecutor: () => ({ adapter: {} }),
    executeQuery: async ({ sql, parameters }: { sql: string; parameters: unknown[] }) => {
      const [, names = ''] = /^insert into "activity" \((.+?)\) values/.exec(sql) ?? []
      const columns = names.replaceAll('"', '').split(', ')
      for (let at = 0; at < parameters.length; at += columns.length)
        rows.push(Object.fromEntries(columns.map((name, cell) => [name, parameters[at + cell]])) as never)
      return { rows: [] }
    },
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
    const { log, note, rows } = gathered()
    const references = new Set(Array.from({ length: 1_000_000 }, () => note()))
    await log.close()
    expect(references.size).toBe(1)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ reference: [...references][0], times: 1_000_000 })
  })

  test('with ever new names is cut off, and what is lost is counted', async () => {
    const { log, note, rows } = gathered({ perMinute: 100 })
    const references = Array.from({ length: 10_000 }, (_, at) => note({ subject: `name ${at}` }))
    await log.close()
    expect(references.filter((one) => one !== undefined)).toHaveLength(100)
    expect(rows).toHaveLength(101)
    expect(rows.find(({ kind }) => kind === 'dropped')?.times).toBe(9900)
    expect(total(rows)).toBe(10_000)
  })

  test('leaves the sign-ins of the same app', () => {
    const { note } = gathered({ perMinute: 10 })
    for (let at = 0; at < 100; at += 1) note({ subject: `name ${at}` })
    expect(note({ kind: 'end_user.signed_in', code: null })).toBeDefined()
  })

  test('against one app leaves the events of another', () => {
    const { note } = gathered({ perMinute: 10 })
    for (let at = 0; at < 100; at += 1) note({ subject: `name ${at}` })
    expect(note({ appId: 'app_2' })).toBeDefined()
  })

  test('does not outgrow the queue', async () => {
    const never = new Promise<void>(() => {})
    const { note } = gathered({ queued: 50, perMinute: 1000, flushRows: 10 }, () => never)
    const kept = Array.from({ length: 1000 }, (_, at) => note({ subject: `name ${at}` })).filter(Boolean)
    expect(kept.length).toBeLessThanOrEqual(60)
  })
})

test('equal events share a reference for a minute', () => {
  const { note, advance } = gathered()
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
  const { log, note, errors } = gathered({}, async () => {
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
  const { log, note, rows } = gathered({}, async () => {
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
  const { log, note, rows } = gathered({ perMinute: 1 })
  note()
  await log.flush()
  note({ subject: 'one too many' })
  await log.close()
  expect(rows.find(({ kind }) => kind === 'dropped')).toMatchObject({ times: 1 })
})

test('keeps no characters that fake a line or that PostgreSQL rejects', async () => {
  const { log, note, rows } = gathered()
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
