import { expect, test } from 'vitest'
import { type CopyKind, LogCopies, type LogState } from './log-copies.ts'

/** A log to which `added` pages are added during each copy, in turn. */
function scripted({ pages = 8000, added = [] as number[], isKept = false, isBusy = false } = {}) {
  const done: string[] = []
  let [all, copied, time] = [pages, 0, 0]
  const copy = (how: CopyKind): LogState => {
    if (how === 'noop') return { isBusy: false, pages: all, copied }
    const until = isKept ? Math.min(all, 100) : all
    if (how === 'restart') done.push(`restart copies ${until - copied}`)
    else done.push(how)
    copied = until
    if (how === 'passive') all += added.shift() ?? 0
    return { isBusy: how === 'restart' && isBusy, pages: all, copied }
  }
  const copies = new LogCopies(copy, () => time)
  const run = (leastPages = 0) => copies.run(leastPages, () => done.push('long'))
  return {
    done,
    run,
    addPages: (more: number) => {
      all += more
    },
    pass: (ms: number) => {
      time += ms
    },
  }
}

test('writers wait only for the copy of what was added last', () => {
  const { done, run } = scripted({ added: [400, 90, 20] })
  expect(run()).toEqual({ pages: 8000, isAnew: true })
  expect(done).toEqual(['long', 'passive', 'passive', 'passive', 'restart copies 20'])
})

test('a log that grows faster than it is copied starts anew after four copies', () => {
  const { done, run } = scripted({ added: [50, 50, 50, 50, 50] })
  expect(run().isAnew).toBe(true)
  expect(done.filter((one) => one === 'passive')).toHaveLength(4)
  expect(done.at(-1)).toBe('restart copies 50')
})

test('a short log is copied, and only if enough is left to copy', () => {
  const { done, run } = scripted({ pages: 5000 })
  expect(run(5001)).toEqual({ pages: 5000, isAnew: false })
  expect(done).toEqual([])
  expect(run(5000)).toEqual({ pages: 5000, isAnew: false })
  expect(done).toEqual(['passive'])
})

test('writers are not kept out while a reader needs an older state', () => {
  const { done, run } = scripted({ isKept: true })
  expect(run().isAnew).toBe(false)
  expect(done.filter((one) => one.startsWith('restart'))).toEqual([])
})

test('a reader that was in the way is left alone for half a second', () => {
  const { done, run, pass } = scripted({ isBusy: true })
  const restarts = () => done.filter((one) => one.startsWith('restart')).length
  expect(run().isAnew).toBe(false)
  pass(499)
  run()
  expect(restarts()).toBe(1)
  pass(1)
  run()
  expect(restarts()).toBe(2)
})
