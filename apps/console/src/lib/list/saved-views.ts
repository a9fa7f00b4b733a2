import { useCallback, useState } from 'react'
import { readStored, writeStored } from '../browser/stored.ts'

/** A list's filters and order under a name, with the columns as they were. Its URL alone opens the same rows elsewhere. */
export interface SavedView<Columns> {
  name: string
  /** The part of the URL after '?', without the page. */
  query: string
  columns: Columns
}

export const savedViewsMax = 20
export const viewNameMax = 40

const filters = ['app', 'status', 'type', 'reseller', 'search', 'sort']

/** The filters and the order of a URL, always in the same sequence. */
export function toViewQuery(search: string): string {
  const present = new URLSearchParams(search)
  const kept = filters.flatMap((name) => {
    const value = present.get(name)
    return value ? [[name, value]] : []
  })
  return new URLSearchParams(kept).toString()
}

function isView(value: unknown): value is SavedView<unknown> {
  const { name, query, columns } = Object(value)
  return (
    typeof name === 'string' && typeof query === 'string' && typeof columns === 'object' && columns !== null
  )
}

function read<Columns>(key: string): SavedView<Columns>[] {
  try {
    const stored: unknown = JSON.parse(readStored(key) ?? '[]')
    return Array.isArray(stored)
      ? (stored.filter(isView).slice(0, savedViewsMax) as SavedView<Columns>[])
      : []
  } catch {
    return []
  }
}

/** The views that an account saved for a list, remembered in this browser like its columns. */
export function useSavedViews<Columns>(list: string, account: string | undefined) {
  const key = `keyward-views-${account}-${list}`
  const [views, setViews] = useState(() => read<Columns>(key))
  const change = useCallback(
    (next: SavedView<Columns>[]) => {
      setViews(next)
      writeStored(key, JSON.stringify(next))
    },
    [key],
  )
  return [views, change] as const
}
