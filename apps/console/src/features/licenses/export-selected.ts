import type { License } from '@keyward/contract'
import { saveFile } from '../../lib/browser/save-file.ts'
import { toCsv } from '../../lib/format/csv.ts'
import { toDayInput } from '../../lib/format/dates.ts'
import { amountOf } from '../../lib/format/words.ts'
import { toast } from '../../ui/toast.tsx'

/** The columns of the server's own export. */
const columns: [string, (license: License) => string | boolean | null][] = [
  ['key', ({ key }) => key],
  ['app', ({ app }) => app.name],
  ['appId', ({ app }) => app.appId],
  ['status', ({ status }) => status],
  ['used', ({ used }) => used],
  ['usedBy', ({ usedBy }) => usedBy?.username ?? null],
  ['usedAt', ({ usedAt }) => usedAt],
  ['banned', ({ banned }) => banned],
  ['note', ({ note }) => note],
  ['reseller', ({ reseller }) => reseller?.email ?? null],
  ['createdAt', ({ createdAt }) => createdAt],
  ['expiresAt', ({ expiresAt }) => expiresAt],
  ['_id', ({ _id }) => _id],
]

/** Saves the licenses that are given, which the page has already. */
export function saveLicenses(licenses: License[], format: 'csv' | 'json') {
  const name = `licenses-selected-${toDayInput(Date.now())}.${format}`
  if (format === 'csv') {
    const lines = licenses.map((license) => columns.map(([, read]) => read(license)))
    saveFile(name, [toCsv([columns.map(([column]) => column), ...lines])], 'text/csv; charset=utf-8')
  } else {
    saveFile(name, [`${JSON.stringify(licenses, null, 2)}\n`], 'application/json; charset=utf-8')
  }
  toast.success('Export Ready', { description: `${amountOf(licenses.length, 'license')} in ${name}` })
}
