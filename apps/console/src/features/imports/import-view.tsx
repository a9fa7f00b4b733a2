import type { Import } from '@keyward/contract'
import { CircleAlert, Undo2 } from 'lucide-react'
import { amountOf } from '../../lib/format/words.ts'
import { usePage } from '../../lib/list/list-page.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { StatRow } from '../../ui/stat-row.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'
import { WorkProgress } from '../../ui/work-progress.tsx'
import { ImportQuestions } from './import-questions.tsx'
import { ImportReport } from './import-report.tsx'
import { useImport } from './queries.ts'
import { isWorking, outcomes, stateFacts, systems } from './words.ts'

const UndoDialog = lazyNamed(() => import('./undo-dialog.tsx'), 'UndoDialog')

export interface ImportViewProps {
  id: string
  /** Undefined if the reader may not undo it. */
  onUndo: (() => void) | undefined
  /** Asks before the import is undone. */
  isUndoing: boolean
  onClose: () => void
}

/** One import: its progress, its questions, its report and its undo. */
export function ImportView({ id, onUndo, isUndoing, onClose }: ImportViewProps) {
  const [url, setUrl] = useUrlState('outcome', 'page')
  const { page, turnTo } = usePage()
  const outcome = outcomes.find((known) => known === url.outcome)
  const found = useImport(id, { outcome, page })
  if (found.isLoadingError) return <QueryError query={found} title="Failed to load the import" boxed />
  if (!found.data) return <Spinner className="mx-auto my-12" />
  const { import: shown, ...report } = found.data
  const { state, problem } = shown
  const label = stateFacts[state].label
  return (
    <div className="grid gap-3 md:gap-6">
      <Card>
        <CardHeader
          title={
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
              {`${systems[shown.preset].label} into ${shown.app.name}`}
              <StateBadge tone={stateFacts[state].tone} label={label} />
            </span>
          }
          description={summaryOf(shown)}
          actions={
            state === 'done' &&
            onUndo && (
              <Button variant="dangerQuiet" onClick={onUndo}>
                <Undo2 />
                Undo Import
              </Button>
            )
          }
        />
        {isWorking(shown) && (
          <CardBody>
            <WorkProgress done={shown.done} total={shown.rows} label={label} />
          </CardBody>
        )}
      </Card>
      {problem !== null && (
        <Callout tone="danger" icon={<CircleAlert aria-hidden />} title="The import failed">
          {problem}
        </Callout>
      )}
      {(state === 'checked' || (state === 'waiting' && shown.files.length > 0)) && (
        <ImportQuestions key={shown._id} of={shown} />
      )}
      {shown.rows > 0 && !isWorking(shown) && (
        <>
          <StatRow
            label="Rows"
            stats={[
              { label: shown.dryRun ? 'Will be created' : 'Created', value: shown.created },
              { label: shown.dryRun ? 'Left out' : 'Skipped', value: shown.skipped },
              { label: 'Problems', value: shown.failed },
            ]}
          />
          <ImportReport
            of={shown}
            report={report}
            outcome={outcome}
            page={page}
            onOutcome={(next) => setUrl({ outcome: next, page: undefined })}
            onPage={turnTo}
          />
        </>
      )}
      {isUndoing && (
        <DialogSlot>
          <UndoDialog of={shown} onClose={onClose} />
        </DialogSlot>
      )}
    </div>
  )
}

function summaryOf({ state, licenses, clients, kept, files, rows }: Import): string {
  if (state === 'done')
    return `${amountOf(licenses, 'license')} and ${amountOf(clients, 'end user')} created.`
  if (state === 'undone')
    return kept > 0
      ? `${amountOf(kept, 'row was', 'rows were')} used since and stayed. Everything else was removed.`
      : 'Everything that it created was removed.'
  if (files.length === 0) return amountOf(rows, 'row')
  return `${files.map(({ name }) => name).join(', ')}: ${amountOf(rows, 'row')}`
}
