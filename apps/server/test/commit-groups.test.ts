import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { system } from '../src/core/actor.ts'
import { storageFailureOf } from '../src/db/failure.ts'
import { transactRecorded } from '../src/db/record.ts'
import { transact } from '../src/db/transact.ts'
import { groupDatabaseForEach, insert, rollBackAll } from './group-database.ts'

const { on, write, writeLong, isCommitted, committed } = groupDatabaseForEach()
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `name-${100 + at}`)

const fullDisk = () => Object.assign(new Error('database or disk is full'), { errcode: 13 })

test('concurrent transactions share commits, and each ends once its commit is on disk', async () => {
  const ends = names(50).map(async (name) => {
    await write(name)
    return isCommitted(name)
  })
  expect(await Promise.all(ends)).toEqual(names(50).map(() => true))
  expect(on.commits).toBeLessThan(10)
})

test('sequential transactions commit separately', async () => {
  for (const name of names(5)) await write(name)
  expect(on.commits).toBe(5)
})

test('an old group is committed while more transactions wait', async () => {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => ++now)
  await Promise.all(names(50).map(write))
  expect(on.commits).toBeGreaterThan(5)
  expect(on.commits).toBeLessThan(30)
})

test('single statements share commits too', async () => {
  const ends = names(50).map(async (name) => {
    await on.database.db.insertInto('meta').values({ name, value: 'x' }).execute()
    return isCommitted(name)
  })
  expect(await Promise.all(ends)).toEqual(names(50).map(() => true))
  expect(on.commits).toBeLessThan(10)
})

test('rolls back only the failed transaction of a group', async () => {
  const settled = await Promise.allSettled(
    names(30).map((name, at) =>
      transact(on.database.db, async (tx) => {
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
  const single = () => on.database.db.insertInto('meta').values({ name: 'single', value: 'x' }).execute()
  const settled = await Promise.allSettled([
    write('a'),
    single(),
    transact(on.database.db, rollBackAll),
    write('b'),
  ])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(committed()).toEqual(['a', 'b', 'single', 'taken'])
})

test('a transaction that SQLite rolled back writes nothing more', async () => {
  await write('taken')
  const goesOn = transact(on.database.db, async (tx) => {
    await insert(tx, 'before')
    await rollBackAll(tx).catch(() => {})
    await insert(tx, 'after').catch(() => {})
  })
  await expect(goesOn).rejects.toMatchObject({ errcode: 1555 })
  expect(committed()).toEqual(['taken'])
})

test('a failed commit fails all of its transactions, including rejections that read their writes', async () => {
  const error = fullDisk()
  on.commitError = error
  const refuse = () =>
    transact(on.database.db, async (tx) => {
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
  const orphan = transact(on.database.db, async (tx) => {
    await sql`pragma defer_foreign_keys = on`.execute(tx)
    await sql`insert into owner_sessions (id, owner_id, account_id, token_hash, created_at, expires_at, confirmed_at, last_used_at)
      values ('x', 'no owner', 'nobody', 'x', 1, 1, 1, 1)`.execute(tx)
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
      on.database.db,
      { actor: system, now: 1, publish: () => published.push(isCommitted(name)) },
      async (write) => {
        await insert(write.tx, name)
        write.record('end_user.signed_out', null, {}, null)
      },
    )
  await Promise.all([record('a'), record('b')])
  expect(published).toEqual([true, true])
  on.commitError = fullDisk()
  expect((await Promise.allSettled([record('c'), record('d')])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
  expect(published).toEqual([true, true])
})

/** Takes the write lock like a command of the operator; the returned function commits. */
function lockFromElsewhere(): () => void {
  const other = new DatabaseSync(on.database.path)
  other.exec("begin immediate; insert into meta (name, value) values ('other', 'x')")
  return () => {
    other.exec('commit')
    other.close()
  }
}

test('waits for a write of another process, and blocks no read meanwhile', async () => {
  await write('before')
  const unlock = lockFromElsewhere()
  const single = on.database.db.insertInto('meta').values({ name: 'single', value: 'x' }).execute()
  const writing = Promise.all([write('a'), single, writeLong('long'), write('b')])
  for (let reads = 0; reads < 5; reads += 1) {
    await pause(10)
    expect(await on.database.db.selectFrom('meta').select('name').execute()).toEqual([{ name: 'before' }])
  }
  unlock()
  await writing
  expect(committed()).toEqual(['a', 'b', 'before', 'long', 'other', 'single'])
})

test('rejects writes when another process keeps the lock too long, and recovers', async () => {
  await writeLong('before')
  const unlock = lockFromElsewhere()
  const single = on.database.db.insertInto('meta').values({ name: 'single', value: 'x' }).execute()
  const writes = [write('a'), single, writeLong('long'), write('b')]
  const refused = Promise.all(writes.map((one) => one.catch(storageFailureOf)))
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000))
  expect(await refused).toEqual(Array(4).fill('database_unavailable'))
  unlock()
  await write('c')
  expect(committed()).toEqual(['before', 'c', 'other'])
})

test('closing commits finished transactions and rolls back the others', async () => {
  const gate = Promise.withResolvers<void>()
  const ended = write('ended')
  const settling = Promise.allSettled([ended])
  const opened = transact(on.database.db, async (tx) => {
    await insert(tx, 'open')
    await gate.promise
    await insert(tx, 'too late')
  })
  const settled = Promise.allSettled([opened, write('waits 1'), write('waits 2'), write('waits 3')])
  await turn()
  await on.database.close()
  gate.resolve()
  const [first] = await settling
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(['rejected']))
  on.open()
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
      await on.database.db.insertInto('meta').values({ name, value: 'x' }).execute()
      return name
    }
    await transact(
      on.database.db,
      async (tx) => {
        await insert(tx, name)
        if (kind === 'rests' || kind === 'is long') await turn()
        if (kind === 'rolls back all') await rollBackAll(tx)
        if (kind === 'refuses') throw new Error('refused')
      },
      { rows: kind === 'is long' ? 1000 : 1 },
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
