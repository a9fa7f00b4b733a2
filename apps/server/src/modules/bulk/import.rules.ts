import { setImmediate } from 'node:timers/promises'
import { customKey, fromCsvCell, type ImportedRow, instant, licenseNote, limits } from '@keyward/contract'
import { toEpochMs, toIso } from '../../core/clock.ts'
import { normalizeKey } from '../../core/ids.ts'
import { invalid } from '../../core/problem.ts'
import { toTyped } from '../../db/typed-keys.ts'
import { CsvError, type CsvRecord, isEmptyLine, readCsvLines } from './csv.ts'

/** A parsed line of the file; `problem` says why it cannot be imported. */
export interface ImportLine {
  line: number
  key: string | undefined
  keyNormalized: string | undefined
  note: string | undefined
  /** Milliseconds since 1970. */
  expiresAt: number | undefined
  problem: string | undefined
}

const columns = ['key', 'expiresAt', 'note'] as const
type Column = (typeof columns)[number]

const sliceSize = 100

/**
 * Parses the file. Reports mistakes per line and rejects only an unreadable file; lets other requests run between
 * slices.
 */
export async function readImport(
  csv: string,
  rules: { now: number; customKeys: boolean },
): Promise<{ lines: ImportLine[]; ignoredColumns: string[] }> {
  const [header, ...records] = await readRecords(csv)
  const names = header?.cells.map((cell) => cell.trim()) ?? []
  const find = (column: Column) => names.findIndex((name) => name.toLowerCase() === column.toLowerCase())
  if (find('expiresAt') < 0) throw invalid('csv', 'The first line must name the column expiresAt')
  const positions = { key: find('key'), expiresAt: find('expiresAt'), note: find('note') }
  const lines: ImportLine[] = []
  for (const record of records) {
    if (lines.length % sliceSize === 0) await setImmediate()
    lines.push(toLine(record, positions, names.length, rules))
  }
  const known = new Set(Object.values(positions))
  return { lines, ignoredColumns: names.filter((_, at) => !known.has(at)) }
}

async function readRecords(csv: string): Promise<CsvRecord[]> {
  const records: CsvRecord[] = []
  let read = 0
  try {
    for (const record of readCsvLines(csv)) {
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

function toLine(
  { line, cells }: CsvRecord,
  positions: Record<Column, number>,
  width: number,
  rules: { now: number; customKeys: boolean },
): ImportLine {
  const cell = (column: Column) => fromCsvCell(cells[positions[column]] ?? '').trim() || undefined
  const [key, note, date] = [cell('key'), cell('note'), cell('expiresAt')]
  const expiresAt = instant.safeParse(date).success && date ? toEpochMs(date) : undefined
  const problem =
    (cells.length > width ? 'The line has more cells than the first line has names' : undefined) ??
    wrongKey(key, rules.customKeys) ??
    firstMistake(licenseNote.optional().safeParse(note)) ??
    wrongExpiry(expiresAt, rules.now)
  const keyNormalized = key === undefined ? undefined : normalizeKey(key)
  return { line, key, keyNormalized, note, expiresAt, problem }
}

function wrongKey(key: string | undefined, allowed: boolean): string | undefined {
  if (key === undefined) return undefined
  if (!allowed) return 'This application does not allow custom license keys'
  return firstMistake(customKey.safeParse(key))
}

function wrongExpiry(expiresAt: number | undefined, now: number): string | undefined {
  if (expiresAt === undefined) return 'expiresAt must be an ISO 8601 date or date-time'
  return expiresAt <= now ? 'The expiry must be in the future' : undefined
}

const firstMistake = (result: { error?: { issues: { message: string }[] } | undefined }) =>
  result.error?.issues[0]?.message

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
      expiresAt: line.expiresAt === undefined ? null : toIso(line.expiresAt),
      note: line.note ?? null,
    }
    if (line.problem !== undefined) return { ...row, outcome: 'error', message: line.problem }
    if (line.keyNormalized !== undefined) {
      if (exact.has(line.keyNormalized))
        return { ...row, outcome: 'skipped', message: 'The key exists already' }
      if (typed.has(toTyped(line.keyNormalized)))
        return { ...row, outcome: 'skipped', message: 'A key that reads the same exists already' }
      exact.add(line.keyNormalized)
      typed.add(toTyped(line.keyNormalized))
    }
    if (free <= 0) return { ...row, outcome: 'error', message: room.message }
    free -= 1
    return { ...row, outcome: 'created', message: null }
  })
}
