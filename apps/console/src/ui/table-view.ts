import { useCallback, useState } from 'react'
import { readStored, writeStored } from '../lib/browser/stored.ts'

export interface TableView {
  /** Ids of the columns that the user hides. */
  hidden: readonly string[]
  /** Ids of the columns that the user shows though a filter fixes their value. */
  shown: readonly string[]
  density: 'comfortable' | 'compact'
}

interface Shown {
  id: string
  phone?: string
  always?: boolean
}

/** Whether a column is shown: not if the user hides it, nor if a filter fixes its value, unless the user shows it. */
export function isShown(column: Shown, view: TableView | undefined, fixed: readonly string[] = []) {
  const { id } = column
  if (!isHideable(column) || !view) return true
  return !view.hidden.includes(id) && (!fixed.includes(id) || view.shown.includes(id))
}

export const isHideable = (column: { phone?: string; always?: boolean }) =>
  column.phone !== 'title' && !column.always

const standard: TableView = { hidden: [], shown: [], density: 'comfortable' }

const toIds = (value: unknown): string[] => (Array.isArray(value) ? value : [])

function read(key: string): TableView {
  try {
    const { hidden, shown, density } = JSON.parse(readStored(key) ?? '{}')
    return {
      hidden: toIds(hidden),
      shown: toIds(shown),
      density: density === 'compact' ? 'compact' : 'comfortable',
    }
  } catch {
    return standard
  }
}

/** The columns and density that an account chose for a table, remembered in this browser. */
export function useTableView(table: string, account: string | undefined) {
  const key = `keyward-table-${account}-${table}`
  const [view, setView] = useState(() => read(key))
  const change = useCallback(
    (next: TableView) => {
      setView(next)
      writeStored(key, JSON.stringify(next))
    },
    [key],
  )
  return [view, change] as const
}
