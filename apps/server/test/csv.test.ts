import { fromCsvCell, toCsvLine } from '@keyward/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvError, parseCsv } from '../src/modules/bulk/csv.ts'

test('reads back everything it writes, neutralized or not', () => {
  const cell = fc.oneof(fc.string(), fc.stringMatching(/^['=+\-@＝\t\r\n",;| ]{0,7}$/))
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 8 }), (table) => {
      // Neutralizing a tab or return adds a quote, so a blank cell that holds one is no longer empty.
      const notEmpty = table.filter((row) =>
        row.some((text) => text.trim() !== '' || /(^|[\t\r\n])[\t\r]/.test(text)),
      )
      const read = parseCsv(table.map(toCsvLine).join('')).map((record) => record.cells.map(fromCsvCell))
      expect(read).toEqual(notEmpty)
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
  const [record] = parseCsv(toCsvLine([text]))
  expect(record?.cells).toEqual([written])
  expect(fromCsvCell(record?.cells[0] ?? '')).toBe(text)
})

test('reads every line ending, a byte order mark and quoted line breaks with line numbers', () => {
  expect(parseCsv('\uFEFFa,b\r\n1,"x\r\ny"\n\n2,"say ""hi"""\r3,')).toEqual([
    { line: 1, cells: ['a', 'b'] },
    { line: 2, cells: ['1', 'x\r\ny'] },
    { line: 5, cells: ['2', 'say "hi"'] },
    { line: 6, cells: ['3', ''] },
  ])
  expect(parseCsv('')).toEqual([])
})

test.each([
  ['a\n"b', 2],
  ['a\nb"c', 2],
  ['a\n\n"b"c', 3],
])('rejects %j at its line', (text, line) => {
  expect(() => parseCsv(text)).toThrow(CsvError)
  try {
    parseCsv(text)
  } catch (error) {
    expect((error as CsvError).line).toBe(line)
  }
})

test.each([
  ['quotes', '"'.repeat(1_000_000)],
  ['unclosed quotes', '"'.repeat(999_999)],
  ['line breaks in a cell', `"${'\n'.repeat(999_998)}"`],
  ['cells in a line', ','.repeat(1_000_000)],
])('rejects a megabyte of %s immediately', (_what, text) => {
  expect(() => parseCsv(text)).toThrow(CsvError)
})
