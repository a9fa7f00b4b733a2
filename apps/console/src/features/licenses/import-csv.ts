import { type ImportedRow, limits, toCsvLine } from '@keyward/contract'
import { addDuration, toDayInput } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'

const columns = ['expiresAt', 'key', 'note'] as const
/** The contract's limit. A file never has more characters than bytes. */
const maxCharacters = 1_000_000

export const importLimits = `At most ${formatNumber(limits.importRowsMax)} rows and ${maxCharacters / 1_000_000} MB.`

/** A template with an example line for each kind of key. */
export function templateCsv(customKeys: boolean): string {
  const day = toDayInput(addDuration(Date.now(), 12, 'months'))
  return [
    columns,
    [day, '', 'Gets a random key'],
    ...(customKeys ? [[day, 'MY-OWN-KEY-0001', 'Your own key']] : []),
  ]
    .map(toCsvLine)
    .join('')
}

/** A CSV file of the given rows. */
export function csvOf(rows: readonly ImportedRow[]): string {
  const termsColumns = [...new Set(rows.flatMap((row) => Object.keys(row.sold)))]
  return [
    [...columns, ...termsColumns],
    ...rows.map((row) => [
      row.expiresAt,
      row.key,
      row.note,
      ...termsColumns.map((name) => row.sold[name] ?? null),
    ]),
  ]
    .map(toCsvLine)
    .join('')
}

export async function readCsvFile(file: File): Promise<{ text: string } | { error: string }> {
  // A character takes up to four bytes. Do not read files that are too large in any case.
  if (file.size > 4 * maxCharacters) return { error: `The file is too large. ${importLimits}` }
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? { error: 'This is not a text file. Save it as CSV (UTF-8).' } : { text }
  } catch {
    return { error: 'The file is not UTF-8. Save it as CSV (UTF-8) and choose it again.' }
  }
}
