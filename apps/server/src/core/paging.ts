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

/** The pagination of an answer; `total` beyond what searches count is told as capped. */
export function toPagination({ page, limit }: Page, total: number, search: boolean): Pagination {
  const capped = search && total > limits.searchCountMax
  const counted = capped ? limits.searchCountMax : total
  const pagination = { page, limit, total: counted, pages: Math.ceil(counted / limit) }
  return capped ? { ...pagination, capped } : pagination
}

export type Sort = 'newest' | 'oldest'

/** The order of `seq` in which a list is told. */
export const orderOf = { newest: 'desc', oldest: 'asc' } as const

/** Where the rows of a page are in a list by `seq`: walked from the nearer end, so that a last page is as near as a first. */
export function seek(page: Page, total: number, sort: Sort) {
  const offset = (page.page - 1) * page.limit
  if (offset >= total) return undefined
  const take = Math.min(page.limit, total - offset)
  const fromEnd = offset * 2 > total
  const order: 'asc' | 'desc' = fromEnd === (sort === 'newest') ? 'asc' : 'desc'
  return { order, offset: fromEnd ? total - offset - take : offset, limit: take }
}
