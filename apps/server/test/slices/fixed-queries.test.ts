import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { inScope, prepared, type Tx } from '../../src/db/index.ts'
import { transact } from '../../src/db/transact.ts'
import { serverForAll } from '../fixtures.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll()

let built = 0
const byName = prepared((db, values: { name: string; value: string | null }) => {
  built += 1
  return db
    .selectFrom('meta')
    .select(['name', (eb) => eb.val(values.value).as('value')])
    .where('name', '=', values.name)
})
const put = (tx: Tx, name: string) => prepared.insert(tx, 'meta', [{ name, value: 'kept' }]).execute()

test('builds a query once and binds the values of each call', async () => {
  await transact(on.database.db, async (tx) => {
    for (const name of ['first', 'second']) await put(tx, name)
  })
  const { db } = on.database
  built = 0
  const calls = ['first', 'second', 'first', 'missing'].map((name, at) =>
    byName.first(db, { name, value: at === 2 ? null : `${at}` }),
  )
  expect(await Promise.all(calls)).toEqual([
    { name: 'first', value: '0' },
    { name: 'second', value: '1' },
    { name: 'first', value: null },
    undefined,
  ])
  expect(built).toBe(1)
})

test('rejects a query whose text depends on a value', async () => {
  const { db } = on.database
  const dependent = [
    prepared((db, values: { name: string }) =>
      db.selectFrom('meta').select(sql.lit(`${values.name}`).as('x')),
    ),
    prepared((db, values: { count: number }) =>
      values.count > 1 ? db.selectFrom('meta').select('name') : db.selectFrom('meta').select('value'),
    ),
  ]
  for (const one of dependent) {
    await expect(async () => one.first(db, { name: 'a', count: 1 } as never)).rejects.toThrow(
      'cannot depend on',
    )
  }
})

test('sees the rows of its own transaction, and of no other that is open', async () => {
  const { db } = on.database
  const work = transact(db, async (tx) => {
    await put(tx, 'written')
    expect(await byName.first(tx, { name: 'written', value: '' })).toBeDefined()
    expect(await byName.first(db, { name: 'written', value: '' })).toBeUndefined()
    throw new Error('undone')
  })
  await expect(work).rejects.toThrow('undone')
  expect(await byName.first(db, { name: 'written', value: '' })).toBeUndefined()
})

test('runs nothing in a transaction that has ended', async () => {
  const { db } = on.database
  let ended: Tx | undefined
  await transact(db, async (tx) => {
    ended = tx
  })
  const failing = transact(db, async (tx) => {
    await put(tx, 'first')
  })
  await expect(failing).rejects.toThrow()
  for (const late of [
    () => put(ended as Tx, 'late'),
    () => byName.first(ended as Tx, { name: 'first', value: '' }),
  ]) {
    await expect(async () => late()).rejects.toThrow(/already committed|has ended/)
  }
  expect(await byName.first(db, { name: 'late', value: '' })).toBeUndefined()
})

test('writes the statements that Kysely would', async () => {
  const { db, dialect } = on.database
  const row = { name: 'same', value: 'a' }
  const known = db.insertInto('meta').values(row).compile()
  expect(prepared.insert(db, 'meta', [row])).toMatchObject({ sql: known.sql, parameters: known.parameters })
  const rows = [row, { name: 'other', value: 'b' }]
  if (dialect === 'sqlite') {
    const many = db.insertInto('meta').values(rows).compile()
    expect(prepared.insert(db, 'meta', rows)).toMatchObject({ sql: many.sql, parameters: many.parameters })
  }
  const change = { hwid: 'pc-1', email: undefined }
  for (const scope of [allApps('own_1'), { ownerId: 'own_1', apps: new Set(['app_1', 'app_2']) }]) {
    const kyselys = db
      .updateTable('clients')
      .set({ hwid: change.hwid })
      .where('id', '=', 'usr_1')
      .where(inScope(scope))
      .compile()
    const sent = await statementsOf(on.database, () =>
      transact(db, (tx) => prepared.update(tx, 'clients', change, { id: 'usr_1', scope }).later()),
    )
    expect(sent.map(({ text }) => text)).toContain(kyselys.sql)
  }
})

test('refuses rows with a column that the first one leaves out', () => {
  const rows = [{ name: 'one' }, { name: 'two', value: 'lost' }] as { name: string; value: string }[]
  expect(() => prepared.insert(on.database.db, 'meta', rows)).toThrow('only later rows have the column value')
})

test('leaves out rows whose unique value is taken', async () => {
  const { db } = on.database
  const row = (name: string, value: string) => ({ name, value })
  await transact(db, async (tx) => {
    await prepared.insert(tx, 'meta', [row('taken', 'kept')], 'name').execute()
    await prepared.insert(tx, 'meta', [row('taken', 'lost')], 'name').execute()
    await prepared.insert(tx, 'meta', [row('taken', 'lost'), row('free', 'kept')], 'name').execute()
  })
  const rows = await db.selectFrom('meta').selectAll().where('name', 'in', ['taken', 'free']).execute()
  expect(rows.map(({ value }) => value)).toEqual(['kept', 'kept'])
})
