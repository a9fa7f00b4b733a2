import { useCallback, useMemo, useState } from 'react'

interface Identified {
  _id: string
}

/**
 * The selected rows of a list, kept across pages and refreshed with the shown rows. A new `scope` (the filters) clears
 * the selection.
 */
export function useSelection<Row extends Identified>(shown: Row[] | undefined, scope: string) {
  const [{ kept, of }, setKept] = useState({ kept: new Map<string, Row>(), of: scope })
  const rows = useMemo(() => {
    if (of !== scope) return new Map<string, Row>()
    const fresh = new Map(shown?.map((row) => [row._id, row]))
    return new Map([...kept].map(([id, row]) => [id, fresh.get(id) ?? row]))
  }, [kept, of, scope, shown])

  const select = useCallback(
    (ids: Iterable<string>) => {
      const known = new Map([...rows, ...(shown ?? []).map((row) => [row._id, row] as const)])
      const next = new Map<string, Row>()
      for (const id of ids) {
        const row = known.get(id)
        if (row) next.set(id, row)
      }
      setKept({ kept: next, of: scope })
    },
    [rows, shown, scope],
  )
  const add = useCallback(
    (more: Row[]) =>
      setKept({ kept: new Map([...rows, ...more.map((row) => [row._id, row] as const)]), of: scope }),
    [rows, scope],
  )
  return { rows: [...rows.values()], ids: new Set(rows.keys()), select, add }
}
