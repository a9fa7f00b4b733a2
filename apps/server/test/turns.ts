import type { SqliteHandle } from '../src/db/sqlite/handle.ts'
import type { TestServer } from './harness.ts'

/** Counts event loop turns while the work runs: in each one, another request could be served. */
export async function countTurns<Result>(
  work: () => Promise<Result>,
): Promise<{ turns: number; result: Result }> {
  let turns = 0
  let over = false
  const turn = () => {
    turns += 1
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    return { result: await work(), turns }
  } finally {
    over = true
  }
}

/** The most rows that the server's thread reads or writes in one event loop turn, on an embedded database. */
export async function mostRowsInATurn(on: TestServer, work: () => Promise<unknown>): Promise<number> {
  const { database } = on
  if (database.dialect !== 'sqlite') throw new Error('expected an embedded database')
  let [rows, most, over] = [0, 0, false]
  const add = (count: number) => {
    rows += count
    most = Math.max(most, rows)
  }
  const turn = () => {
    rows = 0
    if (!over) setImmediate(turn)
  }
  const restore = [database.handles.reader, database.handles.writer].map((handle) => watch(handle, add))
  setImmediate(turn)
  try {
    await work()
    return most
  } finally {
    over = true
    for (const undo of restore) undo()
  }
}

const isWrite = /^\s*(insert|update|delete|with)\b/i

function watch(handle: SqliteHandle, add: (rows: number) => void): () => void {
  const prepare = handle.prepare.bind(handle)
  handle.prepare = (text) => {
    const statement = prepare(text)
    return new Proxy(statement, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: never[]) => {
          const result = value.apply(target, args)
          if (name === 'all') add((result as unknown[]).length)
          // Other statements repeat the count of the write before.
          if (name === 'run' && isWrite.test(text))
            add(Number((result as { changes: number | bigint }).changes))
          return result
        }
      },
    })
  }
  return () => {
    handle.prepare = prepare
  }
}
