// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { runLater, runTogether } from '../../src/db/statements.ts'
import type { Tx } from '../../src/db/tables.ts'
import { transact } from '../../src/db/transact.ts'
import { eventually } from '../eventually.ts'
import { serverForAll } from '../fixtures.ts'
import { roundTripsOf } from '../statements.ts'

const on = serverForAll()
const isPostgres = process.env.TEST_DATABASE === 'postgres'

const add = (tx: Tx, name: string) => tx.insertInto('meta').values({ name, value: '1' }).compile()
const kept = async () => {
  const rows = await on.database.db.selectFrom('meta').select('name').where('name', 'like', 'r-%').execute()
  return rows.map(({ name }) => name).toSorted()
}
afterEach(async () => {
  await on.database.db.deleteFrom('meta').where('name', 'like', 'r-%').execute()
})

test('commits statements that wait for the next one when no other follows', async () => {
  await transact(on.database.db, (tx) => runLater(tx, [add(tx, 'r-1'), add(tx, 'r-2')]))
  expect(await kept()).toEqual(['r-1', 'r-2'])
})

test('statements without an outcome that are added at the same time are all kept, once', async () => {
  await transact(on.database.db, async (tx) => {
    const names = ['r-1', 'r-2', 'r-3', 'r-4']
    const ran = names.map((name, at) =>
      at === 2 ? runTogether(tx, [add(tx, name)]) : runLater(tx, [add(tx, name)]),
    )
    await Promise.all(ran)
  })
  expect(await kept()).toEqual(['r-1', 'r-2', 'r-3', 'r-4'])
})

test('a transaction that fails before it sends a statement stores nothing', async () => {
  const work = async (tx: Tx) => {
    await runLater(tx, [add(tx, 'r-1')])
    throw new Error('given up')
  }
  await expect(transact(on.database.db, work)).rejects.toThrow('given up')
  expect(await kept()).toEqual([])
})

test('rows are read together, after what precedes them, with the types of single queries', async () => {
  const [before, rows, none] = await transact(on.database.db, async (tx) => {
    await runLater(tx, [add(tx, 'r-1')])
    return runTogether(tx, [
      sql<{ n: number }>`select count(*) as n from meta where name = ${'r-1'}`.compile(tx),
      tx
        .selectFrom('meta')
        .select(['name', 'value', sql<null>`null`.as('empty')])
        .where('name', '=', 'r-1')
        .compile(),
      tx.selectFrom('meta').select('name').where('name', '=', 'r-none').compile(),
    ])
  })
  expect(before).toEqual([{ n: 1 }])
  expect(rows).toEqual([{ name: 'r-1', value: '1', empty: null }])
  expect(none).toEqual([])
})

test.each(['the next query', 'the commit'])(
  'an error of a waiting statement undoes the transaction at %s',
  async (at) => {
    const work = async (tx: Tx) => {
      await runLater(tx, [add(tx, 'r-1'), add(tx, 'r-1')])
      if (at === 'the next query') await runTogether(tx, [add(tx, 'r-2')])
    }
    await expect(transact(on.database.db, work)).rejects.toThrow(/unique/i)
    expect(await kept()).toEqual([])
    // The connection is usable again.
    await transact(on.database.db, (tx) => runLater(tx, [add(tx, 'r-3')]))
    expect(await kept()).toEqual(['r-3'])
  },
)

test.runIf(isPostgres)(
  'runs nothing after the message with BEGIN failed, even if a caller ignores that',
  async () => {
    for (const invalid of [sql`select ${new Date()}`, sql`select ${'text'}::integer`]) {
      const work = async (tx: Tx) => {
        await expect(invalid.execute(tx)).rejects.toThrow()
        for (const query of [add(tx, 'r-1'), sql`insert into meta values ('r-2', '1')`.compile(tx)]) {
          await expect(tx.executeQuery(query)).rejects.toThrow()
        }
        await runLater(tx, [add(tx, 'r-3')])
      }
      await expect(transact(on.database.db, work)).rejects.toThrow()
      expect(await kept()).toEqual([])
    }
  },
)

test.runIf(isPostgres)('a transaction begins in the round trip of its first statement', async () => {
  // The pool closes connections after ten seconds and asks more of a new one, which background work also makes necessary.
  await eventually(async () => {
    await kept()
    const trips = await roundTripsOf(on.database, () =>
      transact(on.database.db, (tx) =>
        tx.selectFrom('meta').select('name').where('name', '=', 'r-1').execute(),
      ),
    )
    expect(trips.map((sent) => sent.length)).toEqual([2, 1])
  })
})

test.runIf(isPostgres)('a transaction without a statement asks nothing of PostgreSQL', async () => {
  expect(await roundTripsOf(on.database, () => transact(on.database.db, async () => {}))).toEqual([])
})

test.runIf(isPostgres)('limits the waits of a transaction on every connection', async () => {
  const limits = await transact(on.database.db, async (tx) => {
    const { rows } = await sql`
      select current_setting('lock_timeout') as lock, current_setting(${'idle_in_transaction_session_timeout'}) as idle,
        current_setting('tcp_keepalives_idle') as keepalive`.execute(tx)
    return rows[0]
  })
  expect(limits).toEqual({ lock: '10s', idle: '15s', keepalive: '15' })
})
