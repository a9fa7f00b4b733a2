import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteHandle } from './handle.ts'

let handle: SqliteHandle
beforeEach(() => {
  handle = new SqliteHandle(':memory:', { readOnly: false })
})
afterEach(() => handle.close())

test('returns rows by the names of their columns', () => {
  expect(handle.run('select 1 as a, ? as b, null as c', ['two'])).toEqual({
    rows: [{ a: 1, b: 'two', c: null }],
    changes: 0,
  })
  expect(handle.run('select 1 as a where 1 = 0', [])).toEqual({ rows: [], changes: 0 })
})

test('returns the columns that a table has now', () => {
  handle.run('create table some (a)', [])
  expect(handle.run('insert into some values (1), (2)', [])).toEqual({ rows: [], changes: 2 })
  const read = () => handle.run('select * from some order by a', []).rows[0]
  expect(read()).toEqual({ a: 1 })
  handle.run('alter table some rename column a to b', [])
  expect(read).toThrow('no such column')
  const readAll = () => handle.run('select * from some', []).rows[0]
  expect(readAll()).toEqual({ b: 1 })
  handle.run('alter table some rename column b to c', [])
  expect(readAll()).toEqual({ c: 1 })
  handle.database.exec('alter table some add column d default 5')
  expect(readAll()).toEqual({ c: 1, d: 5 })
  expect(readAll()).toEqual({ c: 1, d: 5 })
})

test('returns rows of many columns that can be copied quickly', () => {
  setFlagsFromString('--allow-natives-syntax')
  const isFast = runInThisContext('(row) => %HasFastProperties(row)')
  const columns = Array.from({ length: 40 }, (_, at) => `${at} as column_${at}`)
  const { rows } = handle.run(`select ${columns.join(', ')} union all select ${columns.join(', ')}`, [])
  expect(rows.map(isFast)).toEqual([true, true])
})
