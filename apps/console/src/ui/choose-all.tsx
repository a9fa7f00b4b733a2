import { limits } from '@keyward/contract'
import { useEffect, useRef } from 'react'
import { formatNumber } from '../lib/format/numbers.ts'
import { useChooseAll } from '../lib/list/use-choose-all.ts'
import { Button } from './button.tsx'
import { Dialog, DialogBody } from './dialog.tsx'
import { toastFailed } from './failure-toast.tsx'
import { WorkProgress } from './work-progress.tsx'

export interface ChooseAllProps<Row> {
  total: number
  read: (page: number, signal: AbortSignal) => Promise<Row[]>
  onChosen: (rows: Row[]) => void
}

/** Chooses all rows that match the filters of a list, in a SelectionBar. */
export function ChooseAllButton<Row>({ total, read, onChosen }: ChooseAllProps<Row>) {
  const most = Math.min(total, limits.searchCountMax)
  const { choose, progress } = useChooseAll({
    total: most,
    read,
    onChosen: (rows) => onChosen(rows.slice(0, limits.searchCountMax)),
    onFail: (error) => toastFailed('Selection Failed', error, 'Failed to choose all.'),
  })
  const label =
    most < total ? `Choose the oldest ${formatNumber(most)}` : `Choose all ${formatNumber(total)} that match`
  return (
    <Button size="sm" loading={progress !== undefined} onClick={choose}>
      {progress ? `${formatNumber(progress.done)} of ${formatNumber(progress.total)}` : label}
    </Button>
  )
}

/** Chooses all rows that match as soon as it is shown, and says how far it is. */
export function ChooseAllDialog<Row>({
  total,
  read,
  onChosen,
  noun,
  onClose,
}: ChooseAllProps<Row> & { noun: string; onClose: () => void }) {
  const most = Math.min(total, limits.searchCountMax)
  const { choose, progress } = useChooseAll({
    total: most,
    read,
    onChosen: (rows) => onChosen(rows.slice(0, limits.searchCountMax)),
    onFail(error) {
      onClose()
      toastFailed('Selection Failed', error, `Failed to choose the ${noun}.`)
    },
  })
  const start = useRef(choose)
  useEffect(() => start.current(), [])
  return (
    <Dialog onClose={onClose} title={`Choosing ${formatNumber(most)} ${noun}`}>
      <DialogBody>
        <WorkProgress label={`Choosing ${noun}`} {...(progress ?? { done: 0, total: most })} />
      </DialogBody>
    </Dialog>
  )
}
