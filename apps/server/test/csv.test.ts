import { fromCsvCell, toCsvLine } from '@keyward/contract'
import { readCsvTable } from '@keyward/contract/imported-files'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const read = (text: string) => [...readCsvTable(text, ',')]

test('reads back everything it writes, neutralized or not', () => {
  const cell = fc.oneof(fc.string(), fc.stringMatching(/^['=+\-@＝\t\r\n",;| ]{0,7}$/))
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 8 }), (table) => {
      // Neutralizing a tab or return adds a quote, so a blank cell that holds one is no longer empty.
      const notEmpty = table.filter((row) =>
        row.some((text) => text.trim() !== '' || /(^|[\t\r\n])[\t\r]/.test(text)),
      )
      const lines = read(table.map(toCsvLine).join(''))
      expect(lines.map(({ cells }) => cells.map(fromCsvCell))).toEqual(notEmpty)
      expect(lines.filter(({ isLoose }) => isLoose)).toEqual([])
    }),
  )
})

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['\r=1', "'\r'=1"],
  ["'=1", "''=1"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['a;=1', "a;'=1"],
  ['a;＝1', "a;'＝1"],
  ['a\t+1', "a\t'+1"],
  ['a|@SUM(A1)', "a|'@SUM(A1)"],
  ['a;"=1"', `a;'"=1"`],
  ['a\n-1', "a\n'-1"],
  ['a;b|c', 'a;b|c'],
  ['1-1; x=2', '1-1; x=2'],
])('neutralizes %j against execution by spreadsheets of any locale', (text, written) => {
  const [line] = read(toCsvLine([text]))
  expect(line?.cells).toEqual([written])
  expect(fromCsvCell(line?.cells[0] ?? '')).toBe(text)
})

test('reads every line ending, a byte order mark and quoted line breaks with line numbers', () => {
  const lines = read('\uFEFFa,b\r\n1,"x\r\ny"\n\n2,"say ""hi"""\r3,4')
  expect(lines.map(({ line, cells }) => [line, ...cells])).toEqual([
    [1, 'a', 'b'],
    [2, '1', 'x\r\ny'],
    [5, '2', 'say "hi"'],
    [6, '3', '4'],
  ])
  expect(read('')).toEqual([])
})

test.each([
  ['a\n"b', 2],
  ['a\nb"c', 2],
  ['a\n\n"b"c', 3],
])('marks the line of %j that RFC 4180 refuses', (text, line) => {
  expect(read(text).find(({ isLoose }) => isLoose)?.line).toBe(line)
})
