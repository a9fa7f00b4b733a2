import type { App, DataOf, endpoints, ImportedRow } from '@keyward/contract'
import { Suspense, useState } from 'react'
import { hasFieldErrors } from '../../lib/api/call.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
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

interface Sent extends ImportValues {
  lines?: number[]
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

  async function onCheck(newValues: ImportValues) {
    setValues(newValues)
    setChecked(await check.mutateAsync(newValues))
  }

  const good = checked?.rows.filter(({ outcome }) => outcome === 'created') ?? []
  const send = useRequest((sentValues: ImportValues) => toSent(sentValues, good, checked?.failed === 0))

  const start = () =>
    send(values, async (request) => {
      const result = await load.mutateAsync(request)
      const { lines } = request.body
      setImported({
        ...result,
        rows: result.rows.map((row, at) => ({ ...row, line: lines?.[at] ?? row.line })),
      })
    }).catch((error: unknown) => {
      // A row has expired since the check, or its key was forbidden: another check shows which.
      if (hasFieldErrors(error)) return onCheck(values).catch(() => {})
    })

  return (
    <Dialog
      size="lg"
      onClose={onClose}
      busy={check.isPending || load.isPending}
      title={imported ? 'Licenses Imported' : checked ? 'Check the Import' : 'Import Licenses'}
      description={
        imported
          ? `${amountOf(imported.created, 'license')} of ${appName} created, ${formatNumber(imported.skipped)} skipped.`
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
            onImport={() => void start()}
          />
        )}
      </Suspense>
    </Dialog>
  )
}

/** The whole file, or only its good rows; `lines` are their lines in the file. */
function toSent(values: ImportValues, good: ImportedRow[], all: boolean): Sent {
  return all ? values : { ...values, csv: csvOf(good), lines: good.map(({ line }) => line) }
}

function summaryOf({ created, skipped, failed }: Result) {
  const parts = [
    `${amountOf(created, 'license')} would be created`,
    ...(skipped > 0 ? [`${formatNumber(skipped)} skipped`] : []),
    ...(failed > 0 ? [`${amountOf(failed, 'row has an error', 'rows have errors')}`] : []),
  ]
  return `${parts.join(', ')}.`
}
