import { type ImportedRow, toCsvLine } from '@keyward/contract'
import { Download } from 'lucide-react'
import { saveFile } from '../../lib/browser/save-file.ts'
import { Button } from '../../ui/button.tsx'
import { DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { ImportRows } from './import-rows.tsx'

/** What an import has created, to look through and to download. */
export function ImportResult({ rows, onClose }: { rows: ImportedRow[]; onClose: () => void }) {
  return (
    <>
      <DialogBody>
        <ImportRows rows={rows} stage="done" />
      </DialogBody>
      <DialogFooter>
        <Button
          onClick={() => saveFile('imported-licenses.csv', [resultCsv(rows)], 'text/csv; charset=utf-8')}
        >
          <Download />
          Download Result
        </Button>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </DialogFooter>
    </>
  )
}

function resultCsv(rows: readonly ImportedRow[]): string {
  return [
    ['line', 'outcome', 'key', 'expiresAt', 'note', 'message'],
    ...rows.map((row) => [String(row.line), row.outcome, row.key, row.expiresAt, row.note, row.message]),
  ]
    .map(toCsvLine)
    .join('')
}
