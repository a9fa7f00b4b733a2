import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { system } from '../src/core/actor.ts'
import { transactRecorded } from '../src/core/record.ts'
import { storageFailureOf } from '../src/db/failure.ts'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { type Database, openDatabase, othersWait, type Tx, transact } from '../src/db/open.ts'
import { SqliteThread } from '../src/db/sqlite-thread.ts'
import { countTurns } from './turns.ts'

let dataDir: string
let database: Database & { dialect: 'sqlite' }
let commits: number
/** Thrown by the next commit instead of committing. */
let commitError: Error | undefined

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-groups-'))
  await open()
  await migrate(database, migrations, { now: 1 })
  commits = 0
  commitError = undefined
  // On a busy machine the age limit would end a group early.
  vi.spyOn(performance, 'now').mockReturnValue(0)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function open() {
  const opened = openDatabase({ url: undefined, dataDir })
  if (opened.dialect !== 'sqlite') throw new Error('expected an embedded database')
  database = opened
  const { writer } = database.handles
  const prepare = writer.prepare.bind(writer)
  writer.prepare = (text) => {
    if (text === 'commit') {
      const error = commitError
      commitError = undefined
      if (error) throw error
      commits += 1
    }
    return prepare(text)
  }
}

const insert = (tx: Tx, name: string) => tx.insertInto('meta').values({ name, value: 'x' }).execute()
const write = (name: string) => transact(database.db, (tx) => insert(tx, name))
const writeLong = (name: string) => transact(database.db, (tx) => insert(tx, name), { isLong: true })
const isCommitted = (name: string): boolean =>
  database.handles.reader.prepare('select 1 from meta where name = ?').get(name) !== undefined
const committed = (): string[] =>
  database.handles.reader.database
    .prepare('select name from meta order by name')
    .all()
    .map((row) => String(row.name))
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `name-${100 + at}`)
/** Like a disk error, a conflict with this clause makes SQLite roll back the whole transaction. */
const rollBackAll = (tx: Tx) =>
  sql`insert or rollback into meta (name, value) values ('taken', 'x')`.execute(tx)
const fullDisk = () => Object.assign(new Error('database or disk is full'), { errcode: 13 })

test('concurrent transactions share commits, and each ends once its commit is on disk', async () => {
  const ends = names(50).map(async (name) => {
    await write(name)
    return isCommitted(name)
  })
  expect(await Promise.all(ends)).toEqual(names(50).map(() => true))
  expect(commits).toBeLessThan(10)
})

test('sequential transactions commit separately', async () => {
  for (const name of names(5)) await write(name)
  expect(commits).toBe(5)
})

test('an old group is committed while more transactions wait', async () => {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => ++now)
  await Promise.all(names(50).map(write))
  expect(commits).toBeGreaterThan(5)
  expect(commits).toBeLessThan(30)
})

test('single statements share commits too', async () => {
  const ends = names(50).map(async (name) => {
    await database.db.insertInto('meta').values({ name, value: 'x' }).execute()
    return isCommitted(name)
  })
  expect(await Promise.all(ends)).toEqual(names(50).map(() => true))
  expect(commits).toBeLessThan(10)
})

test('rolls back only the failed transaction of a group', async () => {
  const settled = await Promise.allSettled(
    names(30).map((name, at) =>
      transact(database.db, async (tx) => {
        await insert(tx, name)
        if (at % 3 === 0) throw new Error(`refused ${name}`)
      }),
    ),
  )
  for (const [at, name] of names(30).entries()) {
    const expected = at % 3 === 0 ? { reason: { message: `refused ${name}` } } : { status: 'fulfilled' }
    expect(settled[at]).toMatchObject(expected)
  }
  expect(committed()).toEqual(names(30).filter((_, at) => at % 3 !== 0))
})

test('after a rollback of the whole group only its cause fails; the others are retried', async () => {
  await write('taken')
  const single = () => database.db.insertInto('meta').values({ name: 'single', value: 'x' }).execute()
  const settled = await Promise.allSettled([
    write('a'),
    single(),
    transact(database.db, rollBackAll),
    write('b'),
  ])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(committed()).toEqual(['a', 'b', 'single', 'taken'])
})

test('a transaction that SQLite rolled back writes nothing more', async () => {
  await write('taken')
  const goesOn = transact(database.db, async (tx) => {
    await insert(tx, 'before')
    await rollBackAll(tx).catch(() => {})
    await insert(tx, 'after').catch(() => {})
  })
  await expect(goesOn).rejects.toMatchObject({ errcode: 1555 })
  expect(committed()).toEqual(['taken'])
})

test('a failed commit fails all of its transactions, including rejections that read their writes', async () => {
  const error = fullDisk()
  commitError = error
  const refuse = () =>
    transact(database.db, async (tx) => {
      const seen = await tx.selectFrom('meta').select('name').where('name', '=', 'a').executeTakeFirst()
      throw new Error(`saw ${seen?.name}`)
    })
  const settled = await Promise.allSettled([write('a'), refuse(), write('b')])
  expect(settled).toEqual([error, error, error].map((reason) => ({ status: 'rejected', reason })))
  expect(storageFailureOf(error)).toBe('storage_full')
  expect(committed()).toEqual([])
  await write('c')
  expect(committed()).toEqual(['c'])
})

test('rolls back a commit that SQLite rejects', async () => {
  const orphan = transact(database.db, async (tx) => {
    await sql`pragma defer_foreign_keys = on`.execute(tx)
    await sql`insert into owner_sessions (id, owner_id, token_hash, created_at, expires_at)
      values ('x', 'no owner', 'x', 1, 1)`.execute(tx)
  })
  const settled = await Promise.allSettled([write('a'), orphan])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await write('b')
  expect(committed()).toEqual(['b'])
})

test('publishes records after the commit, and never if it fails', async () => {
  const published: boolean[] = []
  const record = (name: string) =>
    transactRecorded(
      database.db,
      { actor: system, now: 1, publish: () => published.push(isCommitted(name)) },
      async (write) => {
        await insert(write.tx, name)
        write.record('end_user.signed_out', null, {})
      },
    )
  await Promise.all([record('a'), record('b')])
  expect(published).toEqual([true, true])
  commitError = fullDisk()
  expect((await Promise.allSettled([record('c'), record('d')])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
  expect(published).toEqual([true, true])
})

test('a long transaction delays no other commit', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const before = write('before')
  const long = transact(
    database.db,
    async (tx) => {
      await insert(tx, 'long')
      begun.resolve()
      await gate.promise
    },
    { isLong: true },
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
      database.db,
      async (tx) => {
        const { rows } = await sql<{ n: number }>`with recursive numbers (i) as
          (select 1 union all select i + 1 from numbers where i < 2000000) select count(*) as n from numbers`.execute(
          tx,
        )
        return rows[0]?.n
      },
      { isLong: true },
    ),
  )
  expect(n).toBe(2_000_000)
  expect(turns).toBeGreaterThan(100)
})

test('other transactions go before a waiting long one, and share one group', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const order: string[] = []
  const long = (name: string) =>
    transact(
      database.db,
      async (tx) => {
        await insert(tx, name)
        begun.resolve()
        if (name === 'long 1') await gate.promise
        order.push(name)
      },
      { isLong: true },
    )
  const first = long('long 1')
  await begun.promise
  const others = [long('long 2'), ...['a', 'b', 'c'].map((name) => write(name).then(() => order.push(name)))]
  gate.resolve()
  await Promise.all([first, ...others])
  expect(order[0]).toBe('long 1')
  expect(order).toHaveLength(5)
  expect(commits).toBe(1)
})

test('a long transaction learns whether others wait for it', async () => {
  const seen = await transact(
    database.db,
    async (tx) => {
      const before = await othersWait(tx)
      const other = write('other')
      await turn()
      return { before, after: await othersWait(tx), other }
    },
    { isLong: true },
  )
  expect([seen.before, seen.after]).toEqual([false, true])
  await seen.other
})

test('the last statements of a long transaction run ahead, and a failed one leaves nothing of them', async () => {
  const store = (names: string[], failing?: number) =>
    transactRecorded(
      database.db,
      { actor: system, now: 1, publish: () => {} },
      async (write) => {
        write.last(async function* () {
          for (const [at, name] of names.entries()) {
            if (at === failing)
              yield sql`insert or rollback into meta (name, value) values ('a', 'x')`.compile(write.tx)
            yield write.tx.insertInto('meta').values({ name, value: 'x' }).compile()
          }
        })
      },
      { isLong: true },
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
      database.db,
      async (tx) => {
        await insert(tx, name)
        await work(tx)
      },
      { isLong: true },
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
    database.db,
    async (tx) => {
      await insert(tx, 'before')
      await sql`insert into meta (name, value) values ('unsendable', ${Symbol('x')})`.execute(tx)
    },
    { isLong: true },
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
  async (...given) => {
    const [, end, last, message] = given
    await writeLong('first')
    const sent = vi.spyOn(Worker.prototype, 'postMessage')
    const ends = transact(
      database.db,
      async (tx) => {
        await insert(tx, 'begins')
        await end(sent.mock.contexts.at(-1) as Worker)
        if (last === 'insert') await insert(tx, 'ends')
      },
      { isLong: true },
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
    database.db,
    async (tx) => {
      await insert(tx, 'long')
      begun.resolve()
      await gate.promise
      await insert(tx, 'too late')
    },
    { isLong: true },
  )
  await begun.promise
  const settled = Promise.allSettled([long, write('waits')])
  await database.close()
  gate.resolve()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await open()
  expect(committed()).toEqual([])
})

/** Takes the write lock like a command of the operator; the returned function commits. */
function lockFromElsewhere(): () => void {
  const other = new DatabaseSync(database.path)
  other.exec("begin immediate; insert into meta (name, value) values ('other', 'x')")
  return () => {
    other.exec('commit')
    other.close()
  }
}

test('waits for a write of another process, and blocks no read meanwhile', async () => {
  await write('before')
  const unlock = lockFromElsewhere()
  const single = database.db.insertInto('meta').values({ name: 'single', value: 'x' }).execute()
  const writing = Promise.all([write('a'), single, writeLong('long'), write('b')])
  for (let reads = 0; reads < 5; reads += 1) {
    await pause(10)
    expect(await database.db.selectFrom('meta').select('name').execute()).toEqual([{ name: 'before' }])
  }
  unlock()
  await writing
  expect(committed()).toEqual(['a', 'b', 'before', 'long', 'other', 'single'])
})

test('rejects writes when another process keeps the lock too long, and recovers', async () => {
  await writeLong('before')
  const unlock = lockFromElsewhere()
  const single = database.db.insertInto('meta').values({ name: 'single', value: 'x' }).execute()
  const writes = [write('a'), single, writeLong('long'), write('b')]
  const refused = Promise.all(writes.map((one) => one.catch(storageFailureOf)))
  await pause(30)
  vi.spyOn(performance, 'now').mockReturnValue(10_000)
  expect(await refused).toEqual(Array(4).fill('database_unavailable'))
  unlock()
  await write('c')
  expect(committed()).toEqual(['before', 'c', 'other'])
})

test('closing commits finished transactions and rolls back the others', async () => {
  const gate = Promise.withResolvers<void>()
  const ended = write('ended')
  const settling = Promise.allSettled([ended])
  const opened = transact(database.db, async (tx) => {
    await insert(tx, 'open')
    await gate.promise
    await insert(tx, 'too late')
  })
  const settled = Promise.allSettled([opened, write('waits 1'), write('waits 2'), write('waits 3')])
  await turn()
  await database.close()
  gate.resolve()
  const [first] = await settling
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(['rejected']))
  await open()
  expect(committed()).toEqual(first.status === 'fulfilled' ? ['ended'] : [])
})

/** Returns the same random numbers in each run. */
function numbersFrom(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

test.each([1, 2, 3, 4])('stores exactly the successful transactions of mixed work (%i)', async (seed) => {
  await write('taken')
  const random = numbersFrom(seed)
  const kinds = [
    'writes',
    'writes',
    'writes',
    'writes once',
    'refuses',
    'rolls back all',
    'rests',
    'is long',
  ] as const
  const work = async (name: string): Promise<string | undefined> => {
    const kind = kinds[random(kinds.length)] ?? 'writes'
    for (let turns = random(4); turns > 0; turns -= 1) await turn()
    if (kind === 'writes once') {
      await database.db.insertInto('meta').values({ name, value: 'x' }).execute()
      return name
    }
    await transact(
      database.db,
      async (tx) => {
        await insert(tx, name)
        if (kind === 'rests' || kind === 'is long') await turn()
        if (kind === 'rolls back all') await rollBackAll(tx)
        if (kind === 'refuses') throw new Error('refused')
      },
      { isLong: kind === 'is long' },
    )
    expect(isCommitted(name)).toBe(true)
    return name
  }
  const settled = await Promise.allSettled(names(150).map(work))
  const succeeded = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(settled.filter((one) => one.status === 'rejected').map((one) => one.reason.message)).toEqual(
    expect.arrayContaining(['refused']),
  )
  expect(committed()).toEqual([...succeeded, 'taken'].sort())
  expect(succeeded.length).toBeGreaterThan(80)
})
