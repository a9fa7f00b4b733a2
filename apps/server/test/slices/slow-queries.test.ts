import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startServer } from '../harness.ts'

const counting = (table: string, value: string) => sql`with recursive ${sql.ref(table)}(n) as (
  select 1 union all select n + 1 from ${sql.ref(table)} where n < 300000)
  select max(n) as highest, ${value} as value from ${sql.ref(table)}`

test('slow statements are logged without their values, in lists too, and counted', async () => {
  const lines: string[] = []
  const log = { write: (line: string) => void lines.push(line) }
  const on = await startServer({ SLOW_QUERY_MS: '5' }, { logLevel: 'warn', log })
  const { db, lists } = on.database
  await counting('of_the_database', 'hush').execute(db)
  await counting('of_a_list', 'hush').execute(lists)
  const slow = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'slow query')
  for (const table of ['of_the_database', 'of_a_list'])
    expect(slow).toContainEqual(
      expect.objectContaining({ level: 40, ms: expect.any(Number), query: expect.stringContaining(table) }),
    )
  expect(lines.join()).not.toContain('hush')
  const { payload } = await on.server.inject({ method: 'GET', url: '/metrics' })
  const [, count] = /^keyward_slow_queries_total (\d+)$/m.exec(payload) ?? []
  expect(Number(count)).toBeGreaterThanOrEqual(2)
  await on.close()
})
