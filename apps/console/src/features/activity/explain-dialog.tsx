import type { DataOf, endpoints, RefusalState } from '@keyward/contract'
import { Check, X } from 'lucide-react'
import { ApiError } from '../../lib/api/call.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { formatMoment } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { TimeText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { checkLabel, fixLabels, labelOf, passLabel, userOf, whyOf } from './labels.ts'
import { fixCalls, useExplanation, useFix } from './queries.ts'

type Explained = DataOf<typeof endpoints.activity.explain>

/** Explains a refusal by its reference, and offers the click that removes its reason. */
export function ExplainDialog({ reference, onClose }: { reference: string; onClose: () => void }) {
  const explained = useExplanation(reference)
  const fix = useFix()
  const { event, explanation } = explained.data ?? {}
  const may = useMay()
  const offered = explanation?.fix
  const isMissing = explained.error instanceof ApiError && explained.error.status === 404
  const isSolved = explanation?.now?.code === null
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={explanation?.title ?? (event ? labelOf(event) : 'What happened')}
      description={`Reference ${reference.toUpperCase()}`}
    >
      {/* Focusable, so that the keyboard scrolls it. */}
      <DialogBody tabIndex={0} role="region" aria-label="Explanation">
        {explained.isPending && <Skeleton className="h-56" />}
        {explained.isError && (
          <QueryError
            boxed
            query={explained}
            title={isMissing ? 'There is no such reference' : 'Failed to load the explanation'}
            description={
              isMissing
                ? 'Check the spelling. Events are deleted after the time set in App Settings.'
                : explained.error.message
            }
          />
        )}
        {event && explanation && (
          <>
            <p className="wrap-anywhere">{whyOf(explanation)}</p>
            <p className={cx(isSolved && 'text-fg-muted')}>
              {isSolved ? 'This reason no longer applies: the program may run now.' : explanation.advice}
            </p>
            {explanation.before.checks.length > 0 && <States {...explanation} />}
          </>
        )}
        {event && <Facts items={factsOf(event)} />}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose} disabled={fix.isPending}>
          Close
        </Button>
        {offered && may(...fixCalls[offered.action]) && !isSolved && (
          <Button variant="primary" loading={fix.isPending} onClick={() => fix.mutate(offered)}>
            {fixLabels[offered.action]}
          </Button>
        )}
      </DialogFooter>
    </Dialog>
  )
}

/** One card for both while nothing has changed. */
function States({ before, now }: NonNullable<Explained['explanation']>) {
  if (JSON.stringify(now) === JSON.stringify(before)) return <State title="Then and now" state={before} />
  return (
    <div className="grid gap-3 md:grid-cols-2">
      <State title="Then" state={before} />
      {now && <State title="Now" state={now} />}
    </div>
  )
}

function factsOf(event: Explained['event']) {
  const { app, call, address, at, times, lastAt } = event
  return [
    { label: 'App', value: app?.name ?? 'Deleted' },
    { label: 'User', value: <bdi>{userOf(event) ?? '—'}</bdi> },
    { label: 'Call', value: call ?? '—' },
    { label: 'Address', value: address ?? '—' },
    { label: 'Time', value: <TimeText value={at} /> },
    ...(times > 1
      ? [
          {
            label: 'Repeated',
            value: (
              <>
                {formatNumber(times)} times until <TimeText value={lastAt} format={formatMoment} />
              </>
            ),
          },
        ]
      : []),
  ]
}

/** The checks that failed in their order, of which the first was reported, and on a click those that passed. */
function State({ title, state }: { title: string; state: RefusalState }) {
  const { failed = [], passed = [] } = Object.groupBy(state.checks, (check) =>
    check.passed ? 'passed' : 'failed',
  )
  return (
    <section aria-label={title} className="grid content-start gap-2 rounded-lg border p-3">
      <p className="flex items-center justify-between gap-2 font-medium">
        {title}
        <Badge tone={state.code === null ? 'success' : 'danger'}>
          {state.code === null ? 'May run' : checkLabel(state.code)}
        </Badge>
      </p>
      {failed.length > 0 && (
        <ul className="grid gap-1 text-[0.8125rem]">
          {failed.map(({ code }) => (
            <li key={code} className="flex items-center gap-2">
              <X aria-label="Failed" className="size-3.5 shrink-0 text-danger-text" />
              {checkLabel(code)}
            </li>
          ))}
        </ul>
      )}
      {passed.length > 0 && (
        <details className="text-[0.8125rem] text-fg-muted">
          <summary className="w-fit cursor-pointer rounded-sm py-0.5 hover:text-fg">
            {amountOf(passed.length, 'check')} passed
          </summary>
          <ul className="mt-1 grid gap-1">
            {passed.map(({ code }) => (
              <li key={code} className="flex items-center gap-2">
                <Check aria-label="Passed" className="size-3.5 shrink-0" />
                {passLabel(code)}
              </li>
            ))}
          </ul>
        </details>
      )}
      <p className="text-[0.8125rem] text-fg-muted">
        {state.expiresAt === null ? (
          'No end'
        ) : (
          <>
            Access until <TimeText value={state.expiresAt} format={formatMoment} />
          </>
        )}
      </p>
    </section>
  )
}
