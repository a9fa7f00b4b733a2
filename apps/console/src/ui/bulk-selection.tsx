import { Ban, CalendarPlus, CircleCheck, MonitorSmartphone, Trash2 } from 'lucide-react'
import { amountOf } from '../lib/format/words.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { affectedRows, type BulkAction, type BulkKind, type BulkNoun, type BulkRow } from './bulk-noun.ts'
import { Button } from './button.tsx'
import { ChooseAllButton, type ChooseAllProps } from './choose-all.tsx'
import { DialogSlot } from './deferred.tsx'
import { SelectionBar } from './selection-bar.tsx'

const BulkDialog = lazyNamed(() => import('./bulk-dialog.tsx'), 'BulkDialog')

/** The part of a page about its selected rows. */
export interface BulkSelectionProps<Row, Action extends BulkAction = BulkAction> {
  rows: Row[]
  onSelect: (ids: string[]) => void
  /** Set while all rows of the page are selected and others match the filters. */
  all?: ChooseAllProps<Row> | undefined
  dialog: BulkKind<Action> | undefined
  may: (dialog: BulkKind<Action>) => boolean
  onOpen: (dialog: BulkKind<Action>) => void
  onClose: () => void
}

const buttons = [
  { action: 'extend', label: 'Extend', icon: <CalendarPlus /> },
  { action: 'ban', label: 'Ban', icon: <Ban /> },
  { action: 'unban', label: 'Unban', icon: <CircleCheck /> },
  { action: 'reset-hwid', label: 'Reset HWID', icon: <MonitorSmartphone /> },
] as const

/** The actions for the selected rows. */
export function BulkSelection<Row extends BulkRow, Action extends BulkAction>({
  of,
  rows,
  onSelect,
  all,
  dialog,
  may,
  onOpen,
  onClose,
}: BulkSelectionProps<Row, Action> & { of: BulkNoun<Row, Action> }) {
  const kindOf = (action: BulkAction) => `bulk-${action}` as BulkKind<Action>
  return (
    <>
      {rows.length > 0 && (
        <SelectionBar
          text={`${amountOf(rows.length, of.noun)} selected`}
          onClear={() => onSelect([])}
          danger={
            may(kindOf('delete')) && (
              <Button size="sm" variant="dangerGhost" onClick={() => onOpen(kindOf('delete'))}>
                <Trash2 />
                Delete
              </Button>
            )
          }
        >
          {all && <ChooseAllButton {...all} />}
          {buttons.map(
            ({ action, label, icon }) =>
              action in of.done &&
              may(kindOf(action)) &&
              affectedRows(of, action, rows).length > 0 && (
                <Button key={action} size="sm" onClick={() => onOpen(kindOf(action))}>
                  {icon}
                  {label}
                </Button>
              ),
          )}
          {of.more?.(rows)}
        </SelectionBar>
      )}
      {dialog && (
        <DialogSlot>
          <BulkDialog
            key={dialog}
            of={of as unknown as BulkNoun<BulkRow>}
            action={dialog.slice('bulk-'.length) as BulkAction}
            rows={rows}
            onSelect={onSelect}
            onClose={onClose}
          />
        </DialogSlot>
      )}
    </>
  )
}
