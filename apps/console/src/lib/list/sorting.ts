import type { SortName } from './sort-words.ts'

interface HeaderSort {
  by: string
  direction: 'asc' | 'desc'
}

const nameOf = (sort: SortName): string | undefined => /^(app|type|user)_/.exec(sort)?.[1]

/** Which of the orders a list can have; the server sorts neither searches nor lists of a type or a reseller by names. */
export const usableSorts = <Sort extends SortName>(sorts: readonly Sort[], hasNames: boolean): Sort[] =>
  sorts.filter((sort) => sort !== 'newest' && (hasNames || nameOf(sort) === undefined))

/** The order of a list as the headers of its columns show it; `created` is the column of the first date. */
export function toHeaderSort(sort: SortName = 'newest', created: string): HeaderSort {
  const by = nameOf(sort) ?? (sort.startsWith('expires') ? 'expires' : created)
  return { by, direction: /^oldest$|_first$|_a_to_z$/.test(sort) ? 'asc' : 'desc' }
}

export function fromHeaderSort({ by, direction }: HeaderSort): SortName | undefined {
  if (by === 'app' || by === 'type' || by === 'user')
    return `${by}_${direction === 'asc' ? 'a_to_z' : 'z_to_a'}`
  if (by === 'expires') return direction === 'asc' ? 'expires_first' : 'expires_last'
  return direction === 'asc' ? 'oldest' : undefined
}
