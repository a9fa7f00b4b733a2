import { expect, test, vi } from 'vitest'
import { isShown } from './table-view.ts'

vi.hoisted(() => vi.stubGlobal('window', { addEventListener() {} }))

const columns = [
  { id: 'key', header: 'Key', phone: 'title' as const, cell: () => '' },
  { id: 'app', header: 'App', cell: () => '' },
]

test('a column that a filter fixes is hidden until the user shows it, a hidden column stays hidden', () => {
  const view = { hidden: [], shown: [], density: 'comfortable' as const }
  const app = columns[1]!
  expect(isShown(app, view, ['app'])).toBe(false)
  expect(isShown(app, { ...view, shown: ['app'] }, ['app'])).toBe(true)
  expect(isShown(app, { ...view, hidden: ['app'], shown: ['app'] }, [])).toBe(false)
  expect(isShown(columns[0]!, { ...view, hidden: ['key'] }, [])).toBe(true)
})
