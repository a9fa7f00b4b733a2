import type { BulkClientAction, UndoRow } from '@keyward/contract'
import type { ReactNode } from 'react'
import type { Extension } from '../lib/format/extension.ts'

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
  /** The number of rows in use. If it is not 0, a person who deletes several rows types how many they are. */
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
