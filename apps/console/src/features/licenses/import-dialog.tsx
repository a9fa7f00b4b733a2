import type { App, DataOf, endpoints, ImportedRow } from '@keyward/contract'
import { Download } from 'lucide-react'
import { Suspense, useState } from 'react'
import { saveFile } from '../../lib/browser/save-file.ts'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Callout } from '../../ui/states.tsx'
import { csvOf, resultCsv } from './import-csv.ts'
import { ImportForm, type ImportValues } from './import-form.tsx'
import { useCheckImport, useImport } from './import-queries.ts'

const ImportRows = lazyNamed(() => import('./import-rows.tsx'), 'ImportRows')

export interface ImportDialogProps {
  apps: App[]
  /** The app that is selected at first. */
  appId: string | undefined
  maxPerApp: number
  onClose: () => void
}

type Result = DataOf<typeof endpoints.bulk.importLicenses>

/** Three steps: form, preview, result. Back keeps the form's values. */
export function ImportDialog({ apps, appId, maxPerApp, onClose }: ImportDialogProps) {
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const [values, setValues] = useState<ImportValues>({ app: appId ?? only ?? '', csv: '' })
  const [checked, setChecked] = useState<Result>()
  const [imported, setImported] = useState<Result>()
  const check = useCheckImport()
  const load = useImport()
  const appName = apps.find(({ _id }) => _id === values.app)?.name

  async function onCheck(given: ImportValues) {
    setValues(given)
    setChecked(await check.mutateAsync(given))
  }

  function start(good: ImportedRow[], all: boolean) {
    const body = all ? values : { ...values, csv: csvOf(good) }
    load.mutate(body, {
      onSuccess: (result) => {
        const rows = result.rows.map((row, at) => ({
          ...row,
          line: (all ? row : good[at])?.line ?? row.line,
        }))
        setImported({ ...result, rows })
      },
    })
  }

  const good = checked?.rows.filter(({ outcome }) => outcome === 'created') ?? []
  return (
    <Dialog
      size="lg"
      onClose={onClose}
      busy={check.isPending || load.isPending}
      title={imported ? 'Licenses Imported' : checked ? 'Check the Import' : 'Import Licenses'}
      description={
        imported
          ? `${amountOf(imported.created, 'license')} of ${appName} created, ${imported.skipped.toLocaleString()} skipped.`
          : checked
            ? `${summaryOf(checked)} Nothing has changed yet.`
            : 'Import licenses from CSV. You can review the result before anything changes.'
      }
    >
      {imported ? (
        <>
          <DialogBody>
            <Suspense fallback={null}>
              <ImportRows rows={imported.rows} stage="done" />
            </Suspense>
          </DialogBody>
          <DialogFooter>
            <Button
              onClick={() =>
                saveFile('imported-licenses.csv', [resultCsv(imported.rows)], 'text/csv; charset=utf-8')
              }
            >
              <Download />
              Download Result
            </Button>
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </DialogFooter>
        </>
      ) : checked ? (
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
            <Suspense fallback={null}>
              <ImportRows rows={checked.rows} stage="check" />
            </Suspense>
          </DialogBody>
          <DialogFooter>
            <Button onClick={() => setChecked(undefined)} disabled={load.isPending}>
              Back
            </Button>
            <Button
              variant="primary"
              disabled={good.length === 0}
              loading={load.isPending}
              onClick={() => start(good, checked.failed === 0)}
            >
              {`Import ${amountOf(good.length, 'License')}`}
            </Button>
          </DialogFooter>
        </>
      ) : (
        <ImportForm
          values={values}
          apps={apps}
          maxPerApp={maxPerApp}
          busy={check.isPending}
          onCheck={onCheck}
          onCancel={onClose}
        />
      )}
    </Dialog>
  )
}

function summaryOf({ created, skipped, failed }: Result) {
  const parts = [
    `${amountOf(created, 'license')} would be created`,
    ...(skipped > 0 ? [`${skipped.toLocaleString()} skipped`] : []),
    ...(failed > 0 ? [`${amountOf(failed, 'row has an error', 'rows have errors')}`] : []),
  ]
  return `${parts.join(', ')}.`
}
