import { setImmediate } from 'node:timers/promises'
import {
  customKey,
  fromCsvCell,
  type ImportedRow,
  instant,
  licenseNote,
  limits,
  type TermsColumn,
  termsExport,
} from '@keyward/contract'
import { toEpochMs, toIsoOrNull } from '../../core/clock.ts'
import { normalizeKey } from '../../core/ids.ts'
import { invalid } from '../../core/problem.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { toTyped } from '../../db/typed-keys.ts'
import type { Ban } from '../licenses/licenses.issue.ts'
import type { LicenseTerms } from '../licenses/licenses.rules.ts'
import { CsvError, type CsvRecord, csvSeparators, isEmptyLine, readCsvLines } from './csv.ts'
import { type Cells, readTerms } from './import.terms.ts'

/** A parsed line of the file; `problem` says why it cannot be imported. */
export interface ImportLine {
  line: number
  key: string | undefined
  keyNormalized: string | undefined
  note: string | undefined
  /** The cells of further columns that are not empty. */
  cells: Cells
  terms: LicenseTerms | undefined
  ban: Ban | null
  /** The prefix of a generated key. */
  keyPrefix: string | null | undefined
  problem: string | undefined
}

const termsColumns = [
  'expiresAt',
  ...(Object.keys(termsExport) as TermsColumn[]),
  'banned',
  'banReason',
] as const
const columns = ['key', 'note', ...termsColumns] as const
type Column = (typeof columns)[number]

interface Rules {
  now: number
  customKeys: boolean
  /** The app's license types by their names in lower case. */
  types: ReadonlyMap<string, LicenseTypeRow>
}

type Positions = Record<Column, number>

const sliceSize = 100

/**
 * Parses the file. Reports mistakes per line and rejects only an unreadable file; lets other requests run between
 * slices.
 */
export async function readImport(
  csv: string,
  rules: Rules,
): Promise<{ lines: ImportLine[]; ignoredColumns: string[] }> {
  // Its line stays, so that the others keep their numbers.
  const [header, ...records] = await readRecords(csv.replace(separatorLine, '\n'))
  const names = toNames(header)
  const find = (column: Column) => findColumn(names, column)
  const positions = Object.fromEntries(columns.map((column) => [column, find(column)])) as Positions
  if (!namesEnd(names))
    throw invalid('csv', 'The first line must name the column expiresAt, duration or type')
  const lines: ImportLine[] = []
  for (const record of records) {
    if (lines.length % sliceSize === 0) await setImmediate()
    lines.push(toLine(record, positions, names.length, rules))
  }
  const known = new Set(Object.values(positions))
  return { lines, ignoredColumns: names.filter((_, at) => !known.has(at)) }
}

/** A spreadsheet names the separator in a first line. */
const separatorLine = /^\uFEFF?"?sep=[,;\t]"?(?:\r\n|\r|\n)/i

const toNames = (header: CsvRecord | undefined) => header?.cells.map((cell) => cell.trim()) ?? []

const findColumn = (names: readonly string[], column: Column) =>
  names.findIndex((name) => name.toLowerCase() === column.toLowerCase())

const namesEnd = (names: readonly string[]) =>
  (['expiresAt', 'term', 'duration', 'type'] as const).some((column) => findColumn(names, column) >= 0)

/** The separator with which the first line names a column for the end; undefined if none does. */
const separatorOf = (csv: string) =>
  csvSeparators.find((separator) => {
    let read = 0
    try {
      for (const record of readCsvLines(csv, separator)) {
        read += 1
        if (!isEmptyLine(record) || read >= sliceSize) return namesEnd(toNames(record))
      }
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
    }
    return false
  })

async function readRecords(csv: string): Promise<CsvRecord[]> {
  const records: CsvRecord[] = []
  let read = 0
  try {
    for (const record of readCsvLines(csv, separatorOf(csv))) {
      read += 1
      if (read % sliceSize === 0) await setImmediate()
      if (!isEmptyLine(record)) records.push(record)
      if (records.length > limits.importRowsMax + 1) {
        throw invalid('csv', `At most ${limits.importRowsMax} rows can be imported at once`)
      }
    }
  } catch (error) {
    if (error instanceof CsvError) throw invalid('csv', `Line ${error.line}: ${error.message}`)
    throw error
  }
  return records
}

function toLine({ line, cells }: CsvRecord, positions: Positions, width: number, rules: Rules): ImportLine {
  const cell = (column: Column) => fromCsvCell(cells[positions[column]] ?? '').trim() || undefined
  const [key, note] = [cell('key'), cell('note')?.replace(/\s*[\r\n]+\s*/g, ' ')]
  const filled = termsColumns.flatMap((column) => {
    const text = cell(column)
    return text === undefined ? [] : [[column, text] as const]
  })
  const termsCells: Cells = Object.fromEntries(filled)
  const named = new Set(termsColumns.filter((column) => positions[column] >= 0))
  const { terms, ban, type, problem: termsProblem } = readTerms(termsCells, named, rules.types, rules.now)
  const problem =
    (cells.length > width ? 'The line has more cells than the first line has names' : undefined) ??
    wrongKey(key, rules.customKeys) ??
    firstMistake(licenseNote.optional().safeParse(note)) ??
    termsProblem
  const keyNormalized = key === undefined ? undefined : normalizeKey(key)
  return {
    line,
    key,
    keyNormalized,
    note,
    cells: termsCells,
    terms,
    ban,
    keyPrefix: type?.key_prefix,
    problem,
  }
}

function wrongKey(key: string | undefined, allowed: boolean): string | undefined {
  if (key === undefined) return undefined
  if (!allowed) return 'This application does not allow custom license keys'
  return firstMistake(customKey.safeParse(key))
}

const firstMistake = (result: { error?: { issues: { message: string }[] } | undefined }) =>
  result.error?.issues[0]?.message

/** The line's expiry, even if it has passed. */
function shownEnd({ terms, cells }: ImportLine): number | null {
  if (terms) return displayedEnd(terms, 0)
  const { expiresAt = '' } = cells
  return instant.safeParse(expiresAt).success ? toEpochMs(expiresAt) : null
}

const withoutEnd = ({ expiresAt: _, ...cells }: Cells): Record<string, string> =>
  cells as Record<string, string>

export const takenMessage = (isExact: boolean): string =>
  isExact ? 'The key exists already' : 'A key that reads the same exists already'

export interface ImportResult {
  dryRun: boolean
  created: number
  skipped: number
  failed: number
  ignoredColumns: string[]
  rows: ImportedRow[]
}

export function toResult(
  rows: ImportedRow[],
  facts: Pick<ImportResult, 'dryRun' | 'ignoredColumns'>,
): ImportResult {
  const count = (outcome: ImportedRow['outcome']) => rows.filter((row) => row.outcome === outcome).length
  const counts = { created: count('created'), skipped: count('skipped'), failed: count('error') }
  return { ...facts, ...counts, rows }
}

/** Why rows were skipped after the decision, by their keys. */
export type Skipped = ReadonlyMap<string, string>

export function withSkipped(result: ImportResult, skipped: Skipped): ImportResult {
  if (skipped.size === 0) return result
  const rows = result.rows.map((row): ImportedRow => {
    const message = row.outcome === 'created' ? skipped.get(row.key ?? '') : undefined
    return message === undefined ? row : { ...row, outcome: 'skipped', message }
  })
  return toResult(rows, result)
}

/** Decides the outcome of each line from the app's existing keys and the remaining licenses; creates each key once. */
export function decide(
  lines: readonly ImportLine[],
  taken: ReadonlySet<string>,
  room: { free: number; message: string },
): ImportedRow[] {
  const exact = new Set(taken)
  const typed = new Set([...taken].map(toTyped))
  let free = room.free
  return lines.map((line) => {
    const row = {
      line: line.line,
      key: line.key ?? null,
      expiresAt: toIsoOrNull(shownEnd(line)),
      note: line.note ?? null,
      sold: withoutEnd(line.cells),
    }
    if (line.problem !== undefined) return { ...row, outcome: 'error', message: line.problem }
    if (line.keyNormalized !== undefined) {
      const isExact = exact.has(line.keyNormalized)
      if (isExact || typed.has(toTyped(line.keyNormalized))) {
        return { ...row, outcome: 'skipped', message: takenMessage(isExact) }
      }
      exact.add(line.keyNormalized)
      typed.add(toTyped(line.keyNormalized))
    }
    if (free <= 0) return { ...row, outcome: 'error', message: room.message }
    free -= 1
    return { ...row, outcome: 'created', message: null }
  })
}
