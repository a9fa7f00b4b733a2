import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteHandle } from './handle.ts'
import { SqliteThread } from './thread.ts'

let folder: string
let writer: SqliteHandle
let thread: SqliteThread
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-thread-'))
  const path = join(folder, 'some.db')
  writer = new SqliteHandle(path, { readOnly: false })
  thread = new SqliteThread({ path, readOnly: true })
})
afterEach(async () => {
  await thread.close()
  writer.close()
  rmSync(folder, { recursive: true })
})

const blockFor = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('hands over at most one result per turn of the event loop, in their order', async () => {
  await thread.start()
  const inTurns: number[][] = [[]]
  const all = [1, 2, 3, 4, 5].map((n) =>
    thread.run(`select ${n} as n`).then(({ rows }) => inTurns.at(-1)?.push((rows[0] as { n: number }).n)),
  )
  // The thread has answered all of them before this one reads the first answer.
  blockFor(500)
  for (let turn = 0; turn < 1000 && inTurns.flat().length < all.length; turn += 1) {
    await nextTurn()
    inTurns.push([])
  }
  await Promise.all(all)
  expect(inTurns.filter(({ length }) => length > 0)).toEqual([[1], [2], [3], [4], [5]])
})

test('hands over what it received before the thread ended', async () => {
  await thread.start()
  const all = Array.from({ length: 1500 }, (_, n) => thread.run(`select ${n} as n`))
  const results = Promise.allSettled(all)
  blockFor(1500)
  // All are received in one of these turns, and handed over in later ones.
  await nextTurn()
  await nextTurn()
  await thread.close()
  expect((await results).filter(({ status }) => status === 'rejected')).toEqual([])
})

/** All that a thread of this file loads, found in its imports of values. */
function loadedBy(file: string, found = new Set<string>()): Set<string> {
  const text = readFileSync(file, 'utf8')
  for (const [, name = ''] of text.matchAll(/^import (?!type )[^']*'([^']+)'/gm)) {
    const loaded = name.startsWith('.') ? join(dirname(file), name) : name
    if (found.has(loaded)) continue
    found.add(loaded)
    if (name.startsWith('.')) loadedBy(loaded, found)
  }
  return found
}

test('a thread loads no package, because each one loads all of its files anew', () => {
  for (const name of ['thread-worker.ts', 'checkpoint-worker.ts']) {
    const loaded = [...loadedBy(join(import.meta.dirname, name))]
    expect(loaded.filter((one) => !isAbsolute(one) && !one.startsWith('node:'))).toEqual([])
    expect(loaded).toContain('node:worker_threads')
  }
})
