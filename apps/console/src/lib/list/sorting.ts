import type { SortName } from './sort-words.ts'

interface HeaderSort {
  by: string
  direction: 'asc' | 'desc'
}

export const toSort = (text = ''): SortName | undefined =>
  /^(oldest|expires_(first|last))$/.test(text) ? (text as SortName) : undefined

/** The order of a list as the headers of its dates show it; `created` is the column of the first date. */
export function toHeaderSort(sort: SortName = 'newest', created: string): HeaderSort {
  const by = sort.startsWith('expires') ? 'expires' : created
  return { by, direction: sort === 'oldest' || sort === 'expires_first' ? 'asc' : 'desc' }
}

export function fromHeaderSort({ by, direction }: HeaderSort): SortName | undefined {
  if (by === 'expires') return direction === 'asc' ? 'expires_first' : 'expires_last'
  return direction === 'asc' ? 'oldest' : undefined
}
