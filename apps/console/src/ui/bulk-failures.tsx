import type { ReactNode } from 'react'
import { formatNumber } from '../lib/format/numbers.ts'
import { Button } from './button.tsx'
import { Dialog, DialogBody, DialogFooter } from './dialog.tsx'

export interface BulkFailuresProps {
  /** For example '10 of 12 licenses banned'. */
  title: string
  failed: { id: string; label: ReactNode; reason: string }[]
  /** Set if a retry may succeed. */
  onRetry?: (() => void) | undefined
  busy: boolean
  onClose: () => void
  children?: ReactNode
}

/** Lists the failed rows of a bulk change with their reasons. */
export function BulkFailures({ title, failed, onRetry, busy, onClose, children }: BulkFailuresProps) {
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title={title}
      description={`${failed.length === 1 ? 'This one' : `These ${formatNumber(failed.length)}`} could not be changed.`}
    >
      <DialogBody>
        <ul className="divide-y rounded-lg border bg-sunken">
          {failed.map(({ id, label, reason }) => (
            <li key={id} className="grid gap-0.5 px-3 py-2">
              <span className="min-w-0 break-words font-medium">{label}</span>
              <span className="text-[0.8125rem] text-danger-text">{reason}</span>
            </li>
          ))}
        </ul>
        {children}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose} disabled={busy}>
          Close
        </Button>
        {onRetry && (
          <Button variant="primary" loading={busy} onClick={onRetry}>
            Try Again
          </Button>
        )}
      </DialogFooter>
    </Dialog>
  )
}
