/**
 * Positions where a spreadsheet starts a formula: the start of a cell, and after cell separators of other locales.
 * A quote before it makes the cell a text.
 */
const formula = /(?<=^|[;|\t\r\n])(?=["']*[=+\-@\t\r＝＋－＠])/g
const neutralized = /(?<=^|[;|\t\r\n])'(?=["']*[=+\-@\t\r＝＋－＠])/g

export type CsvValue = string | boolean | null

/** One line of RFC 4180 with its line end. Neutralizes cells that a spreadsheet would run. */
export const toCsvLine = (cells: readonly CsvValue[]): string => `${cells.map(toCell).join(',')}\r\n`

function toCell(value: CsvValue): string {
  const safe = String(value ?? '').replace(formula, "'")
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The text of a cell before `toCsvLine` neutralized it. */
export const fromCsvCell = (cell: string): string => cell.replace(neutralized, '')
