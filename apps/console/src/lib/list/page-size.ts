import { useState } from 'react'
import { readStored, writeStored } from '../browser/stored.ts'
import { usePage } from './list-page.ts'

export const pageSizes: readonly number[] = [25, 50, 100]

/** How many rows a page of a list has: what this person chose in this browser, for all lists. */
export function usePageSize(account: string | undefined, standard = 25) {
  const key = `keyward-page-size-${account}`
  const [chosen, setChosen] = useState<number>()
  const { turnTo } = usePage()
  const limit = chosen ?? Number(readStored(key))
  return {
    limit: pageSizes.includes(limit) ? limit : standard,
    onLimit(next: number) {
      setChosen(next)
      writeStored(key, String(next))
      turnTo(1, { replace: true })
    },
  }
}
