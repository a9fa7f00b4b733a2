import { expect, test } from 'vitest'
import { toCsv } from './csv.ts'

test('writes lines of cells, quoted where they need it', () => {
  expect(
    toCsv([
      ['key', 'note'],
      ['A', 'says "no", twice'],
      [null, true],
    ]),
  ).toBe('key,note\r\nA,"says ""no"", twice"\r\n,true\r\n')
})

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@x', "'@x"],
  ['\tx', "'\tx"],
  ["'=1", "''=1"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠x', "'＠x"],
  ['a;=1', "a;'=1"],
  ['a\t=1', "a\t'=1"],
  ['a|@x', "a|'@x"],
  ['a\n-1', "a\n'-1"],
  ['a-1; b=2', 'a-1; b=2'],
])('writes %j so that no spreadsheet runs it', (text, written) => {
  expect(
    toCsv([[text]])
      .replaceAll('"', '')
      .trimEnd(),
  ).toBe(written)
})
