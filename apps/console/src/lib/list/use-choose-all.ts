import { limits } from '@keyward/contract'
import { useEffect, useRef, useState } from 'react'

export interface ChooseAll<Row> {
  /** How many rows match the filters. */
  total: number
  /** Reads a page of `limits.pageSizeMax` rows, oldest first, so that new rows move none to another page. */
  read: (page: number, signal: AbortSignal) => Promise<Row[]>
  onChosen: (rows: Row[]) => void
  onFail: (error: unknown) => void
}

/** Reads all rows that match the filters of a list, to choose them, with progress. Stops when the component unmounts. */
export function useChooseAll<Row>({ total, read, onChosen, onFail }: ChooseAll<Row>) {
  const [count, setCount] = useState<number>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  async function choose() {
    if (running.current) return
    const work = new AbortController()
    running.current = work
    const rows: Row[] = []
    setCount(0)
    try {
      for (let page = 1; rows.length < total; page++) {
        const found = await read(page, work.signal)
        rows.push(...found)
        setCount(rows.length)
        if (found.length < limits.pageSizeMax) break
      }
      onChosen(rows)
    } catch (error) {
      if (!work.signal.aborted) onFail(error)
    } finally {
      running.current = undefined
      if (!work.signal.aborted) setCount(undefined)
    }
  }
  return { choose: () => void choose(), progress: count === undefined ? undefined : { done: count, total } }
}
