import type { App, DataOf, endpoints, ImportedRow } from '@keyward/contract'
import { Suspense, useState } from 'react'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { csvOf } from './import-csv.ts'
import { ImportForm, type ImportValues } from './import-form.tsx'
import { useCheckImport, useImport } from './import-queries.ts'

// Together, because without the result the owner would not know what an import has created.
const loadSteps = () => import('./import-steps.ts')
const ImportPreview = lazyNamed(loadSteps, 'ImportPreview')
const ImportResult = lazyNamed(loadSteps, 'ImportResult')

export interface ImportDialogProps {
  apps: App[]
  /** The app that is selected at first. */
  appId: string | undefined
  maxPerApp: number
  onClose: () => void
}

type Result = DataOf<typeof endpoints.bulk.importLicenses>

/** Three steps: form, preview, result. */
export function ImportDialog({ apps, appId, maxPerApp, onClose }: ImportDialogProps) {
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const [opened] = useState<ImportValues>({ app: appId ?? only ?? '', csv: '' })
  const [values, setValues] = useState(opened)
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
      {/* Behind the preview, the form keeps its input: for Back, and if the session expires. */}
      {!imported && (
        <div className="contents" hidden={checked !== undefined}>
          <ImportForm
            values={opened}
            apps={apps}
            maxPerApp={maxPerApp}
            busy={check.isPending}
            onCheck={onCheck}
            onCancel={onClose}
          />
        </div>
      )}
      <Suspense fallback={null}>
        {imported && <ImportResult rows={imported.rows} onClose={onClose} />}
        {checked && !imported && (
          <ImportPreview
            checked={checked}
            good={good}
            busy={load.isPending}
            onBack={() => setChecked(undefined)}
            onImport={() => start(good, checked.failed === 0)}
          />
        )}
      </Suspense>
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
