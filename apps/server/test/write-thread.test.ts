import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { system } from '../src/core/actor.ts'
import type { Tx } from '../src/db/index.ts'
import { transactRecorded } from '../src/db/record.ts'
import { SqliteThread } from '../src/db/sqlite/thread.ts'
import { connectionOf } from '../src/db/statements.ts'
import { transact } from '../src/db/transact.ts'
import { groupDatabaseForEach, insert, rollBackAll } from './group-database.ts'
import { countTurns } from './turns.ts'

const { on, write, writeLong, committed } = groupDatabaseForEach()

test('a long transaction delays no other commit', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const before = write('before')
  const long = transact(
    on.database.db,
    async (tx) => {
      await insert(tx, 'long')
      begun.resolve()
      await gate.promise
    },
    { rows: 1000 },
  )
  await begun.promise
  const after = write('after')
  await before
  expect(committed()).toEqual(['before'])
  gate.resolve()
  await Promise.all([long, after])
  expect(committed()).toEqual(['after', 'before', 'long'])
})

test('a long transaction does not block the event loop', async () => {
  const { result: n, turns } = await countTurns(() =>
    transact(
      on.database.db,
      async (tx) => {
        const { rows } = await sql<{ n: number }>`with recursive numbers (i) as
          (select 1 union all select i + 1 from numbers where i < 500000) select count(*) as n from numbers`.execute(
          tx,
        )
        return rows[0]?.n
      },
      { rows: 1000 },
    ),
  )
  expect(n).toBe(500_000)
  expect(turns).toBeGreaterThan(25)
})

test('other transactions go before a waiting long one, and share one group', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const order: string[] = []
  const long = (name: string) =>
    transact(
      on.database.db,
      async (tx) => {
        await insert(tx, name)
        begun.resolve()
        if (name === 'long 1') await gate.promise
        order.push(name)
      },
      { rows: 1000 },
    )
  const first = long('long 1')
  await begun.promise
  const others = [long('long 2'), ...['a', 'b', 'c'].map((name) => write(name).then(() => order.push(name)))]
  gate.resolve()
  await Promise.all([first, ...others])
  expect(order[0]).toBe('long 1')
  expect(order).toHaveLength(5)
  expect(on.commits).toBe(1)
})

test('a long transaction learns whether others wait for it', async () => {
  const seen = await transact(
    on.database.db,
    async (tx) => {
      const connection = await connectionOf(tx)
      const before = connection.othersWait
      const other = write('other')
      await turn()
      return { before, after: connection.othersWait, other }
    },
    { rows: 1000 },
  )
  expect([seen.before, seen.after]).toEqual([false, true])
  await seen.other
})

test('the last statements of a long transaction run ahead, and a failed one leaves nothing of them', async () => {
  const store = (names: string[], failing?: number) =>
    transactRecorded(
      on.database.db,
      { actor: system, now: 1, publish: () => {} },
      async (write) => {
        const added = names.map((name) => write.tx.insertInto('meta').values({ name, value: 'x' }).compile())
        if (failing !== undefined) {
          const failed = sql`insert or rollback into meta (name, value) values ('a', 'x')`.compile(write.tx)
          added.splice(failing, 0, failed as never)
        }
        write.last(added)
      },
      { rows: 1000 },
    )
  await store(['a', 'b'])
  await expect(store(['c', 'd', 'e'], 1)).rejects.toThrow('UNIQUE')
  await expect(store(['f', 'a', 'g'])).rejects.toThrow('UNIQUE')
  await store(['h'])
  expect(committed()).toEqual(['a', 'b', 'h'])
})

test('a long transaction stores nothing when it is refused, and SQLite rolls back no neighbor of it', async () => {
  await write('taken')
  const long = (name: string, work: (tx: Tx) => Promise<unknown>) =>
    transact(
      on.database.db,
      async (tx) => {
        await insert(tx, name)
        await work(tx)
      },
      { rows: 1000 },
    )
  const refuse = async () => {
    throw new Error('refused')
  }
  const goOn = async (tx: Tx) => {
    await rollBackAll(tx).catch(() => {})
    await insert(tx, 'after').catch(() => {})
  }
  const settled = await Promise.allSettled([
    write('a'),
    long('refused', refuse),
    long('rolled back', rollBackAll),
    long('goes on', goOn),
    long('b', async () => {}),
  ])
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  expect(settled[2]).toMatchObject({ reason: { errcode: 1555 } })
  expect(committed()).toEqual(['a', 'b', 'taken'])
})

test('other transactions do not wait until the thread of long ones has started', async () => {
  const order: string[] = []
  const long = writeLong('long').then(() => order.push('long'))
  await write('short').then(() => order.push('short'))
  await long
  expect(order).toEqual(['short', 'long'])
})

test('without another thread, long transactions run on the thread of the server', async () => {
  vi.spyOn(SqliteThread.prototype, 'start').mockRejectedValue(new Error('ERR_WORKER_INIT_FAILED'))
  const thread = vi.spyOn(SqliteThread.prototype, 'run')
  await Promise.all([writeLong('a'), write('b'), writeLong('c')])
  expect(committed()).toEqual(['a', 'b', 'c'])
  expect(thread).not.toHaveBeenCalled()
})

test('rolls back a long transaction with a parameter that cannot be sent to the thread', async () => {
  const unsendable = transact(
    on.database.db,
    async (tx) => {
      await insert(tx, 'before')
      await sql`insert into meta (name, value) values ('unsendable', ${Symbol('x')})`.execute(tx)
    },
    { rows: 1000 },
  )
  await expect(unsendable).rejects.toThrow('could not be cloned')
  await Promise.all([write('a'), writeLong('b')])
  expect(committed()).toEqual(['a', 'b'])
})

type EndThread = (thread: Worker) => unknown
const stop: EndThread = (thread) => thread.terminate()
const crash: EndThread = (thread) => thread.postMessage(undefined)

test.each([
  ['stops before the last statement', stop, 'insert', 'there is no transaction'],
  ['stops before the commit', stop, 'commit', 'there is no transaction'],
  ['crashes before the last statement', crash, 'insert', 'Cannot destructure'],
  ['crashes before the commit', crash, 'commit', 'Cannot destructure'],
] as const)(
  'when its thread %s, a long transaction fails and stores nothing; others go on',
  async (...row) => {
    const [, end, last, message] = row
    await writeLong('first')
    const sent = vi.spyOn(Worker.prototype, 'postMessage')
    const ends = transact(
      on.database.db,
      async (tx) => {
        await insert(tx, 'begins')
        await end(sent.mock.contexts.at(-1) as Worker)
        if (last === 'insert') await insert(tx, 'ends')
      },
      { rows: 1000 },
    )
    const others = [write('a'), writeLong('b'), write('c')]
    await expect(ends).rejects.toThrow(message)
    await Promise.all(others)
    expect(committed()).toEqual(['a', 'b', 'c', 'first'])
  },
)

test('closing rolls back a long transaction', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const long = transact(
    on.database.db,
    async (tx) => {
      await insert(tx, 'long')
      begun.resolve()
      await gate.promise
      await insert(tx, 'too late')
    },
    { rows: 1000 },
  )
  await begun.promise
  const settled = Promise.allSettled([long, write('waits')])
  await on.database.close()
  gate.resolve()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  on.open()
  expect(committed()).toEqual([])
})
