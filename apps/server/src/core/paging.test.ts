import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orderOf, seek, toPagination } from './paging.ts'

const lists = [fc.nat(300), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 })] as const

test.each(['newest', 'oldest'] as const)(
  'every page, %s first, matches a slice and is read from the nearer end',
  (sort) => {
    const inOrder = (seqs: number[], order: string) =>
      [...seqs].sort((one, other) => (order === 'asc' ? one - other : other - one))
    fc.assert(
      fc.property(...lists, (total, limit, page) => {
        const seqs = Array.from({ length: total }, (_, at) => at)
        const whole = inOrder(seqs, orderOf[sort])
        const target = seek({ page, limit }, total, sort)
        const read = target
          ? inOrder(seqs, target.order).slice(target.offset, target.offset + target.limit)
          : []
        expect(inOrder(read, orderOf[sort])).toEqual(whole.slice((page - 1) * limit, page * limit))
        if (target) expect(target.offset).toBeLessThanOrEqual(total / 2)
      }),
    )
  },
)

test('marks search totals beyond the counting limit as capped', () => {
  expect(toPagination({ page: 1, limit: 50 }, 10_000, true)).toEqual({
    page: 1,
    limit: 50,
    total: 10_000,
    pages: 200,
  })
  expect(toPagination({ page: 1, limit: 50 }, 10_001, true)).toMatchObject({
    total: 10_000,
    pages: 200,
    capped: true,
  })
  expect(toPagination({ page: 1, limit: 50 }, 10_001, false)).toEqual({
    page: 1,
    limit: 50,
    total: 10_001,
    pages: 201,
  })
  expect(toPagination({ page: 1, limit: 50 }, 0, false)).toMatchObject({ total: 0, pages: 0 })
})
