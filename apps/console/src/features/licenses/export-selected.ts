import { type License, licenseExport, toExportHeader, toExportLine } from '@keyward/contract'
import { saveFile } from '../../lib/browser/save-file.ts'
import { toDayInput } from '../../lib/format/dates.ts'
import { amountOf } from '../../lib/format/words.ts'
import { toast } from '../../ui/toast.tsx'

/** Saves the given licenses in the format of the server's export, but without addresses of customers. */
export function saveLicenses(licenses: License[], format: 'csv' | 'json') {
  const name = `licenses-selected-${toDayInput(Date.now())}.${format}`
  if (format === 'csv') {
    const lines = licenses.map((license) => toExportLine(licenseExport, license))
    saveFile(name, [toExportHeader(licenseExport), ...lines], 'text/csv; charset=utf-8')
  } else {
    saveFile(name, [`${JSON.stringify(licenses, null, 2)}\n`], 'application/json; charset=utf-8')
  }
  toast.success('Export Ready', { description: `${amountOf(licenses.length, 'license')} in ${name}` })
}
