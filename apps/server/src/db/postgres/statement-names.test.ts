import { expect, test } from 'vitest'
import { StatementNames } from './statement-names.ts'

const often = (names: StatementNames, text: string) =>
  Array.from({ length: 10 }, () => names.of(text)).findLast(() => true)

test('a repeated statement gets a unique name and keeps it', () => {
  const names = new StatementNames()
  expect(names.of('delete from a where id = $1')).toBeUndefined()
  const first = often(names, 'delete from a where id = $1')
  expect(first).toEqual(expect.any(String))
  expect(names.of('delete from a where id = $1')).toBe(first)
  expect(often(names, 'delete from b where id = $1')).not.toBe(first)
})

test.each([
  ['whose plan depends on its values', 'select id from a where x like $1'],
  ['that page', 'select id from a order by seq limit $1'],
  ['whose columns another node may change', 'select * from a where id = $1'],
  ['that are very long', `delete from a where id in (${'$1, '.repeat(1000)}$1)`],
])('gives statements %s no name', (_which, text) => {
  expect(often(new StatementNames(), text)).toBeUndefined()
})

test('bounds the number of names', () => {
  const names = new StatementNames()
  const assignedNames = Array.from({ length: 500 }, (_, at) =>
    often(names, `delete from a${at} where id = $1`),
  )
  expect(assignedNames.filter((name) => name !== undefined)).toHaveLength(200)
})
