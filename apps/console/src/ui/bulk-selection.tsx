import type { BulkClientAction, UndoRow } from '@keyward/contract'
import { Ban, CalendarPlus, CircleCheck, MonitorSmartphone, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Extension } from '../lib/format/extension.ts'
import { amountOf } from '../lib/format/words.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { Button } from './button.tsx'
import { ChooseAllButton, type ChooseAllProps } from './choose-all.tsx'
import { DialogSlot } from './deferred.tsx'
import { SelectionBar } from './selection-bar.tsx'

const BulkDialog = lazyNamed(() => import('./bulk-dialog.tsx'), 'BulkDialog')

export type BulkAction = BulkClientAction
export type BulkKind<Action extends BulkAction = BulkAction> = `bulk-${Action}`

export interface BulkRow {
  _id: string
  app: { _id: string }
  expiresAt: string | null
}

/** What a dialog says before it changes these rows. */
export interface BulkQuestion {
  description: ReactNode
  confirmLabel: string
  loss?: ReactNode
  /** Shown below the question. */
  note?: ReactNode
  /** How many of the rows somebody uses; a deletion of many is confirmed by a number. */
  inUse?: number
}

/** All that is said and called about many rows of a noun, with the actions that it knows. */
export interface BulkNoun<Row, Action extends BulkAction = BulkAction> {
  /** Singular: 'license'. */
  noun: string
  label: (row: Row) => ReactNode
  isBanned: (row: Row) => boolean
  /** Changes all of these rows or none. */
  change: (
    body: { action: Action; ids: string[]; reason?: string | undefined } & Partial<Extension>,
    idempotencyKey: string,
  ) => Promise<{ changed: number; undo: UndoRow[] }>
  undo: (rows: readonly UndoRow[]) => object
  extension: (rows: readonly Row[]) => {
    shorten: { label: string; warning: string }
    /** Says that so many rows have no end and stay unchanged. */
    unchanged: (count: number) => string
    submitLabel: string
    note?: string | false
  }
  questions: Record<Exclude<Action, 'extend'>, (rows: readonly Row[]) => BulkQuestion>
  /** The toast after each action; `amount` says how many rows changed. */
  done: Record<Action, (amount: string, rows: readonly Row[]) => { title: string; description?: string }>
  /** More buttons of the bar. */
  more?: (rows: Row[]) => ReactNode
}

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

/** Leaves out rows that already are in the target state, so that Undo does not change them. */
export function affectedRows<Row>(
  { isBanned }: Pick<BulkNoun<Row>, 'isBanned'>,
  action: BulkAction,
  rows: Row[],
): Row[] {
  if (action === 'ban') return rows.filter((row) => !isBanned(row))
  if (action === 'unban') return rows.filter(isBanned)
  return rows
}
