import type { TermsColumn } from '@keyward/contract'
import { fromCsvCell } from '@keyward/contract/csv'
import { termsExport } from '@keyward/contract/exports'
import { type CsvLine, csvDelimiters, readCsvTable } from '@keyward/contract/imported-files'
import { customKey, licenseNote } from '@keyward/contract/licenses'
import { type ImportedLicense, UnreadableFiles } from '../rows.ts'

const termsColumns = [
  'expiresAt',
  ...(Object.keys(termsExport) as TermsColumn[]),
  'banned',
  'banReason',
] as const
const columns = ['key', 'note', ...termsColumns] as const
type Column = (typeof columns)[number]

/** An empty cell of these says that there are none; of others, nothing. */
const clearing: readonly Column[] = ['seats', 'features', 'updatesForDays']

export interface KeywardList {
  ignoredColumns: string[]
  rows: Iterable<ImportedLicense>
}

/** Opens a list with the columns of an export of licenses. Mistakes are problems of their rows; an unreadable file throws. */
export function openKeywardList(file: string, csv: string, customKeys = true): KeywardList {
  // A spreadsheet names the delimiter in a first line. An empty one stays, so that the others keep their numbers.
  const text = csv.replace(/^\uFEFF?"?sep=[,;\t]"?(?=[\r\n])/i, '')
  const start = text.replace(/^\uFEFF?[\r\n]+/, '')
  const namesBy = (delimiter: (typeof csvDelimiters)[number]): string[] =>
    readCsvTable(start, delimiter)
      .next()
      .value?.cells.map((cell: string) => cell.trim()) ?? []
  const delimiter = csvDelimiters.find((one) => namesEnd(namesBy(one))) ?? ','
  const names = namesBy(delimiter)
  const positions = new Map(columns.map((column) => [column, findColumn(names, column)]))
  const known = new Set(positions.values())
  const rows = function* () {
    let isFirst = true
    for (const line of readCsvTable(text, delimiter)) {
      const problem = line.problem ?? (line.isLoose ? looseQuote : undefined)
      if (problem !== undefined) throw new UnreadableFiles(`Line ${line.line}: ${problem}`)
      if (isFirst && !namesEnd(names)) throw new UnreadableFiles(withoutEnd)
      if (!isFirst) yield toRow(file, line, { positions, width: names.length, customKeys })
      isFirst = false
    }
    if (isFirst) throw new UnreadableFiles(withoutEnd)
  }
  return { ignoredColumns: names.filter((_, at) => !known.has(at)), rows: rows() }
}

const looseQuote = 'A quote is not closed or stands where none may be'
const withoutEnd = 'The first line must name the column expiresAt, duration or type'

const findColumn = (names: readonly string[], column: Column) =>
  names.findIndex((name) => name.toLowerCase() === column.toLowerCase())

const namesEnd = (names: readonly string[]) =>
  (['expiresAt', 'term', 'duration', 'type'] as const).some((column) => findColumn(names, column) >= 0)

interface Columns {
  positions: ReadonlyMap<Column, number>
  width: number
  customKeys: boolean
}

function toRow(
  file: string,
  { line, cells: values }: CsvLine,
  { positions, width, customKeys }: Columns,
): ImportedLicense {
  const cell = (column: Column) => fromCsvCell(values[positions.get(column) ?? -1] ?? '').trim()
  const [key, note] = [cell('key'), cell('note').replace(/\s*[\r\n]+\s*/g, ' ')]
  const filled = termsColumns.flatMap((column) => {
    const isNamed = clearing.includes(column) && (positions.get(column) ?? -1) >= 0
    return cell(column) !== '' || isNamed ? [[column, cell(column)] as const] : []
  })
  const problem =
    (values.length > width ? 'The line has more cells than the first line has names' : undefined) ??
    wrongKey(key, customKeys) ??
    firstMistake(licenseNote.safeParse(note))
  return {
    ...{ kind: 'license', status: 'unused', file, line, key, cells: Object.fromEntries(filled) },
    ...(note !== '' && { note }),
    ...(key === '' && { hint: 'It gets a random key.' }),
    ...(problem !== undefined && { problem }),
  }
}

function wrongKey(key: string, allowed: boolean): string | undefined {
  if (key === '') return undefined
  if (!allowed) return 'This application does not allow custom license keys'
  return firstMistake(customKey.safeParse(key))
}

const firstMistake = (result: { error?: { issues: { message: string }[] } | undefined }) =>
  result.error?.issues[0]?.message
