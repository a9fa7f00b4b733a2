import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import { expect, test } from 'vitest'
import { ListDialect } from '../open.ts'
import type { Tables } from '../tables.ts'
import { countRows } from './list-filters.ts'

const engine = {
  createDriver: () => {
    throw new Error('Reads run elsewhere')
  },
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
}

test.each([
  [499, ['at once']],
  [500, ['at once', 'as a list']],
])('%i rows that ended in the current hour are counted %j', async (ended, expected) => {
  const ran: string[] = []
  const readBy = (how: string) =>
    new Kysely<Tables>({
      dialect: new ListDialect(engine, async (_text, [most]) => {
        ran.push(how)
        return [{ fresh: Math.min(ended, Number(most)) }]
      }),
    })
  const database = { counts: readBy('at once'), lists: readBy('as a list') }
  const count = (most: number) => sql<{ fresh: number }>`select ${most} as fresh`
  expect(await countRows(database, count)).toEqual({ fresh: ended })
  expect(ran).toEqual(expected)
})
