import type { SelectQueryBuilder } from 'kysely'
import { type Page, seek } from '../../core/paging.ts'
import type { Db, Tables } from '../tables.ts'

/** The `seq` of a page of the `total` rows that a query matches, newest first. In the order that reads fewer rows. */
export async function seqsOfPage<Table extends 'apps' | 'licenses' | 'resellers'>(
  matching: SelectQueryBuilder<Tables, Table, object>,
  page: Page,
  total: number,
): Promise<number[]> {
  const target = seek(page, total, 'newest')
  if (!target) return []
  // The builder's type does not know that each of these tables has the column.
  const found = await (matching as unknown as SelectQueryBuilder<Tables, 'apps', object>)
    .select('seq')
    .orderBy('seq', target.order)
    .limit(target.limit)
    .offset(target.offset)
    .execute()
  return found.map(({ seq }) => seq)
}

/** How many rows a query finds, up to `most` + 1. */
export async function countUpTo(
  db: Db,
  // biome-ignore lint/suspicious/noExplicitAny: The type of a builder depends on its tables.
  found: SelectQueryBuilder<any, any, object>,
  most: number,
): Promise<number> {
  const { n } = await db
    .selectFrom(found.limit(most + 1).as('some'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}
