import { useCallback, useState } from 'react'
import { readStored, writeStored } from '../lib/browser/stored.ts'

export interface TableView {
  /** Ids of the columns that the user hides. */
  hidden: readonly string[]
  density: 'comfortable' | 'compact'
}

export const isHideable = (column: { phone?: string; always?: boolean }) =>
  column.phone !== 'title' && !column.always

const standard: TableView = { hidden: [], density: 'comfortable' }

function read(key: string): TableView {
  try {
    const { hidden, density } = JSON.parse(readStored(key) ?? '{}')
    return {
      hidden: Array.isArray(hidden) ? hidden : standard.hidden,
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
