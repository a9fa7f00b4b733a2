import { expect, test } from 'vitest'
import { createSchedule, schedule } from './schedule.ts'

const onError = (error: unknown) => {
  throw error
}

/** Work whose runs end one by one, when the test says so. */
function stepwise() {
  const runs: { end: (nextMs?: number) => void; signal: AbortSignal }[] = []
  const waiting: (() => void)[] = []
  const work = (signal: AbortSignal) =>
    new Promise<number | undefined>((resolve) => {
      runs.push({ end: resolve, signal })
      for (const begun of waiting.splice(0)) begun()
    })
  const begun = async (n: number) => {
    while (runs.length < n) await new Promise<void>((resolve) => waiting.push(resolve))
    return runs[n - 1] as (typeof runs)[number]
  }
  return { work, runs, begun }
}

test('a wake during a run makes one more follow, however many there are', async () => {
  const { work, runs, begun } = stepwise()
  const made = createSchedule(work, { everyMs: 1e9, onError })
  made.wake()
  const first = await begun(1)
  made.wake()
  made.wake()
  expect(runs).toHaveLength(1)
  first.end()
  const second = await begun(2)
  const ended = made.end()
  second.end()
  await ended
  expect(runs).toHaveLength(2)
})

test('a wake in the moment in which a run ends begins another one', async () => {
  const { work, begun } = stepwise()
  const made = createSchedule(work, { everyMs: 1e9, onError })
  made.wake()
  const first = await begun(1)
  first.end()
  for (let n = 0; n < 5; n++) {
    await Promise.resolve()
    made.wake()
  }
  const second = await begun(2)
  const ended = made.end()
  second.end()
  await ended
})

test('work runs next when it wants to, and else as usual, also after an error', async () => {
  const errors: unknown[] = []
  let runs = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const made = createSchedule(
    async () => {
      runs += 1
      if (runs === 2) throw new Error('the second run fails')
      if (runs === 3) resolve()
      return 0
    },
    { everyMs: 1, onError: (error) => errors.push(error) },
  )
  made.start(0)
  await promise
  await made.end()
  expect(errors).toEqual([new Error('the second run fails')])
})

test('the end aborts a run and waits for it', async () => {
  const { work, begun } = stepwise()
  const end = schedule(work, { everyMs: 0, onError })
  const { signal, end: endRun } = await begun(1)
  const ended = end()
  expect(signal.aborted).toBe(true)
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  endRun()
  await ended
})
