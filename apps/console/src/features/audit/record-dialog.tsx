import type { AuditRecord } from '@keyward/contract'
import { formatUtcTime } from '../../lib/format/dates.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TimeText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { type DetailRow, nameOf, namesIn, toRows } from './detail.ts'
import { isOnlyOne, kindOfActor, kindOfSubject, labelOf } from './labels.ts'

export interface RecordDialogProps {
  record: AuditRecord
  onFilter: (filter: { actor: string } | { subject: string }) => void
  onClose: () => void
}

/** One record in full: who, what, from where, and what changed. */
export function RecordDialog({ record, onFilter, onClose }: RecordDialogProps) {
  const { actor, subject, app, address, at, detail } = record
  const rows = detail && toRows(detail, namesIn(record))
  const who = <bdi>{nameOf(actor)}</bdi>
  const facts = [
    {
      label: 'Who',
      value: isOnlyOne(actor) ? (
        kindOfActor(actor)
      ) : actor.name === null ? (
        who
      ) : (
        <>
          {who}, {kindOfActor(actor)}
        </>
      ),
    },
    ...(subject
      ? [
          {
            label: kindOfSubject(subject),
            value: (
              <span className="inline-flex min-w-0 items-center gap-1">
                <bdi className="wrap-anywhere">{nameOf(subject)}</bdi>
                <CopyButton text={nameOf(subject)} label={`Copy ${nameOf(subject)}`} />
              </span>
            ),
          },
        ]
      : []),
    ...(subject?.kind === 'app' ? [] : [{ label: 'App', value: app ? <bdi>{app.name}</bdi> : '—' }]),
    { label: 'Address', value: address ?? '—' },
    { label: 'Time', value: <TimeText value={at} /> },
    { label: 'In UTC', value: formatUtcTime(at) },
    { label: 'Event', value: <code className="font-mono text-xs">{record.action}</code> },
  ]
  return (
    <Dialog onClose={onClose} size="lg" title={labelOf(record)}>
      {/* Focusable, so that the keyboard scrolls it. */}
      <DialogBody tabIndex={0} role="region" aria-label="Record">
        {rows === null && <p className="text-fg-muted">Your role does not include the details.</p>}
        {rows && rows.length > 0 && <Changes rows={rows} />}
        <Facts items={facts} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Close</Button>
        {subject && (
          <Button onClick={() => onFilter({ subject: subject._id })}>
            All of This {kindOfSubject(subject)}
          </Button>
        )}
        <Button onClick={() => onFilter({ actor: actor._id })}>All by This Actor</Button>
      </DialogFooter>
    </Dialog>
  )
}

/** What the record says of each field, before and after side by side. */
function Changes({ rows }: { rows: DetailRow[] }) {
  const hasBefore = rows.some(({ before }) => before !== undefined)
  return (
    <div className="overflow-hidden rounded-lg border">
      <table className="w-full table-fixed text-left text-[0.8125rem]">
        <caption className="sr-only">{hasBefore ? 'Before and after' : 'Details'}</caption>
        <thead className="border-b bg-sunken text-fg-muted">
          <tr>
            <th className="px-3 py-2 font-medium">Field</th>
            {hasBefore && <th className="px-3 py-2 font-medium">Before</th>}
            <th className="px-3 py-2 font-medium">{hasBefore ? 'After' : 'Value'}</th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {rows.map(({ field, before, after }) => (
            <tr key={field} className="align-top">
              <th scope="row" className="wrap-anywhere px-3 py-2 font-normal text-fg-muted">
                {field}
              </th>
              {hasBefore && <td className="wrap-anywhere px-3 py-2">{before ?? '—'}</td>}
              <td className="wrap-anywhere px-3 py-2 font-medium">{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
