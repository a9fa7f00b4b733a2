import { expect, test } from 'vitest'
import { everyRow } from './every-row.ts'

test('a table fails with every row that does not hold, and with no other', async () => {
  const rows: [string, number][] = [
    ['one', 1],
    ['two', 2],
    ['three', 3],
  ]
  const odd = (_name: string, n: number) => expect(n % 2).toBe(0)
  await expect(everyRow(rows, odd)).rejects.toThrow(/^2 of 3 rows do not hold\none: .*\nthree: .*$/)
  await everyRow(rows, async (_name, n) => expect(n).toBeGreaterThan(0))
  await expect(everyRow(rows, async (_name, n) => Promise.reject(new Error(`no ${n}`)))).rejects.toThrow(
    'one: no 1\ntwo: no 2\nthree: no 3',
  )
})

test('a table without rows fails', async () => {
  await expect(everyRow([], () => {})).rejects.toThrow('the table has no rows')
})
