import { expect, test, vi } from 'vitest'
import { isShown, repeatingColumns } from './table-view.ts'

vi.hoisted(() => vi.stubGlobal('window', { addEventListener() {} }))

const columns = [
  { id: 'key', header: 'Key', phone: 'title' as const, cell: () => '' },
  { id: 'app', header: 'App', cell: () => '' },
  { id: 'user', header: 'User', isEmpty: (row: { user: string }) => row.user === '', cell: () => '' },
]

test('several rows repeat a column that no row has a value of, and those that are known to', () => {
  expect(repeatingColumns(columns, [{ user: '' }, { user: '' }], ['app'])).toEqual(['user', 'app'])
  expect(repeatingColumns(columns, [{ user: '' }, { user: 'erik' }], [false])).toEqual([])
})

test('a single row and a list that loads repeat nothing', () => {
  expect(repeatingColumns(columns, [{ user: '' }], ['app'])).toEqual([])
  expect(repeatingColumns(columns, undefined, ['app'])).toEqual([])
})

test('a repeating column is hidden until the user shows it, a hidden one stays hidden', () => {
  const view = { hidden: [], shown: [], density: 'comfortable' as const }
  const app = columns[1]!
  expect(isShown(app, view, ['app'])).toBe(false)
  expect(isShown(app, { ...view, shown: ['app'] }, ['app'])).toBe(true)
  expect(isShown(app, { ...view, hidden: ['app'], shown: ['app'] }, [])).toBe(false)
  expect(isShown(columns[0]!, { ...view, hidden: ['key'] }, [])).toBe(true)
})
