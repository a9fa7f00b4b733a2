import type { DataOf, endpoints, ImportedRow } from '@keyward/contract'
import { amountOf } from '../../lib/format/words.ts'
import { Button } from '../../ui/button.tsx'
import { DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Callout } from '../../ui/states.tsx'
import { ImportRows } from './import-rows.tsx'

export interface ImportPreviewProps {
  checked: DataOf<typeof endpoints.bulk.importLicenses>
  /** The rows that can be imported. */
  good: ImportedRow[]
  busy: boolean
  onBack: () => void
  onImport: () => void
}

/** What an import would create. */
export function ImportPreview({ checked, good, busy, onBack, onImport }: ImportPreviewProps) {
  return (
    <>
      <DialogBody>
        {checked.failed > 0 && (
          <Callout tone="warning">
            {good.length > 0
              ? 'Go back to correct the errors, or import the other rows.'
              : 'No row can be imported. Go back to correct the errors.'}
          </Callout>
        )}
        {checked.ignoredColumns.length > 0 && (
          <Callout>{`Ignored columns: ${checked.ignoredColumns.join(', ')}`}</Callout>
        )}
        {checked.ignoredColumns.length > 0 && good.length > 0 && good.every(({ key }) => key === null) && (
          <Callout tone="warning">
            Every license gets a random key. To keep your own keys, name their column “key”.
          </Callout>
        )}
        <ImportRows rows={checked.rows} stage="check" />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onBack} disabled={busy}>
          Back
        </Button>
        <Button variant="primary" disabled={good.length === 0} loading={busy} onClick={onImport}>
          {`Import ${amountOf(good.length, 'License')}`}
        </Button>
      </DialogFooter>
    </>
  )
}
