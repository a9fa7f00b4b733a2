import { limits } from '@keyward/contract'

export interface Page {
  page: number
  limit: number
}

export interface Pagination extends Page {
  total: number
  pages: number
  capped?: boolean
}

/** The pagination of a response; a search with more hits than are counted is marked `capped`. */
export function toPagination({ page, limit }: Page, total: number, search: boolean): Pagination {
  const capped = search && total > limits.searchCountMax
  const counted = capped ? limits.searchCountMax : total
  const pagination = { page, limit, total: counted, pages: Math.ceil(counted / limit) }
  return capped ? { ...pagination, capped } : pagination
}

export type Sort = 'newest' | 'oldest' | 'expires_first' | 'expires_last'

/** SQL sort order of `seq`, or of the end and then `seq`. */
export const orderOf = { newest: 'desc', oldest: 'asc', expires_first: 'asc', expires_last: 'desc' } as const

/** Sorts by names; rows of one name are newest first. */
export const byName = {
  app_a_to_z: { by: 'app', order: 'asc' },
  app_z_to_a: { by: 'app', order: 'desc' },
  user_a_to_z: { by: 'user', order: 'asc' },
  user_z_to_a: { by: 'user', order: 'desc' },
  type_a_to_z: { by: 'type', order: 'asc' },
  type_z_to_a: { by: 'type', order: 'desc' },
} as const

export type NameSort = keyof typeof byName

export const isByName = (sort: Sort | NameSort): sort is NameSort => sort in byName

export const isByEnd = (sort: Sort): boolean => sort === 'expires_first' || sort === 'expires_last'

/** Offset and order of a page, read from the nearer end, so that the last page is as fast as the first. */
export function seek(page: Page, total: number, sort: Sort) {
  const offset = (page.page - 1) * page.limit
  if (offset >= total) return undefined
  const take = Math.min(page.limit, total - offset)
  const fromEnd = offset * 2 > total
  const order: 'asc' | 'desc' = fromEnd === (orderOf[sort] === 'desc') ? 'asc' : 'desc'
  return { order, offset: fromEnd ? total - offset - take : offset, limit: take }
}
