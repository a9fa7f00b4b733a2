export interface CsvRecord {
  /** Where it begins, counted from 1. */
  line: number
  cells: string[]
}

export class CsvError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** More than any importable file has. Reading stops there, before it takes long. */
const [cellsMax, cellLengthMax] = [100, 10_000]

/** Spreadsheets separate cells with semicolons where the comma is the decimal sign, and with tabs in the clipboard. */
export const csvSeparators = [',', ';', '\t'] as const
type Separator = (typeof csvSeparators)[number]

const tokens: Record<Separator, RegExp> = {
  ',': /("[^"]*(?:""[^"]*)*"|[^",\r\n]*)(,|\r\n|\r|\n|$)/y,
  ';': /("[^"]*(?:""[^"]*)*"|[^";\r\n]*)(;|\r\n|\r|\n|$)/y,
  '\t': /("[^"]*(?:""[^"]*)*"|[^"\t\r\n]*)(\t|\r\n|\r|\n|$)/y,
}

/** Reads RFC 4180 with any line end, a byte order mark allowed, line by line, empty lines too. Throws a CsvError. */
export function* readCsvLines(text: string, separator: Separator = ','): Generator<CsvRecord> {
  const token = new RegExp(tokens[separator])
  token.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  let line = 1
  let record: CsvRecord = { line, cells: [] }
  while (token.lastIndex <= text.length) {
    const found = token.exec(text)
    if (!found) throw new CsvError(line, 'A quote is not closed or stands where none may be')
    const [, raw = '', end = ''] = found
    if (raw.length > cellLengthMax)
      throw new CsvError(line, `A cell has more than ${cellLengthMax} characters`)
    if (record.cells.length >= cellsMax) throw new CsvError(line, `The line has more than ${cellsMax} cells`)
    record.cells.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw)
    line += raw.split(/\r\n|\r|\n/).length - 1
    if (end === separator) continue
    yield record
    if (end === '') break
    line += 1
    record = { line, cells: [] }
  }
}

export const isEmptyLine = ({ cells }: CsvRecord): boolean => cells.every((cell) => cell.trim() === '')

/** The lines of a short text that are not empty. */
export const parseCsv = (text: string): CsvRecord[] =>
  [...readCsvLines(text)].filter((record) => !isEmptyLine(record))
