import { afterEach, describe, expect, test } from 'vitest'
import { DeliveryRunner, type Lane, type Queue } from './delivery-runner.ts'
import type { SlotSizes } from './delivery-slots.ts'

interface Row {
  id: number
  lane: Lane
  dueAt: number
}

/** A queue in memory; what happens to a delivery is up to the test. */
class TestQueue implements Queue<Row> {
  now = 0
  readonly rows: Row[] = []
  readonly begun: Row[] = []
  readonly running = new Map<Row, (isWell: boolean) => void>()
  most = 0
  /** Answers a delivery at once; undefined leaves it running. */
  answer: (row: Row) => boolean | undefined = () => undefined
  #ids = 0

  add(vendor: string, receiver = `of ${vendor}`, count = 1, isFailing = false): void {
    const lane = { id: `${vendor} ${receiver}`, vendor, receiver, isFailing }
    for (let at = 0; at < count; at += 1) {
      this.#ids += 1
      this.rows.push({ id: this.#ids, lane, dueAt: 0 })
    }
  }

  hasDue = async () => this.rows.some(({ dueAt }) => dueAt <= this.now)

  listLanes = async (after: string, count: number) => {
    const due = this.rows.filter(({ dueAt, lane }) => dueAt <= this.now && lane.id > after)
    const lanes = [...new Map(due.map(({ lane }) => [lane.id, lane])).values()]
    const page = lanes.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, count)
    return { lanes: page, next: lanes.length > count ? page.at(-1)?.id : undefined }
  }

  claim = async ({ id }: Lane, { count, leaseMs }: { count: number; leaseMs: number }) => {
    const due = this.rows.filter(({ dueAt, lane }) => dueAt <= this.now && lane.id === id).slice(0, count)
    for (const row of due) row.dueAt = this.now + leaseMs
    return due
  }

  deliver = async (row: Row, signal: AbortSignal) => {
    this.begun.push(row)
    this.most = Math.max(this.most, this.running.size + 1)
    const isWell =
      this.answer(row) ??
      (await new Promise<boolean>((resolve) => {
        this.running.set(row, resolve)
        signal.addEventListener('abort', () => resolve(false))
      }))
    this.running.delete(row)
    this.rows.splice(this.rows.indexOf(row), 1)
    if (!isWell) this.rows.push({ ...row, dueAt: this.now + 1 })
    return isWell
  }

  vendorsBegun = () => this.begun.map(({ lane }) => lane.vendor)
  finish = (isOne: (row: Row) => boolean = () => true, isWell = true) => {
    for (const [row, end] of this.running) if (isOne(row)) end(isWell)
  }
}

const runners: DeliveryRunner<Row>[] = []
afterEach(async () => {
  for (const one of runners.splice(0)) await one.end()
})

const errors: unknown[] = []
function run(queue: TestQueue, sizes: Partial<SlotSizes> = {}, more: { slowAfterMs?: number } = {}) {
  errors.length = 0
  const runner = new DeliveryRunner(queue, {
    clock: { now: () => queue.now },
    onError: (error) => errors.push(error),
    sizes: { quick: 6, reserved: 0, slow: 2, overflow: 4, ofVendor: 3, slowOfVendor: 1, ...sizes },
    slowAfterMs: 60_000,
    graceMs: 0,
    ...more,
  })
  runners.push(runner)
  runner.wake()
  return runner
}

describe('vendors', () => {
  test('take turns: one with many rows delays no other one', async () => {
    const queue = new TestQueue()
    queue.answer = () => true
    queue.add('a', 'one', 500)
    for (const vendor of ['b', 'c', 'd']) queue.add(vendor)
    run(queue)
    await expect.poll(() => queue.rows).toEqual([])
    expect(Math.max(...['b', 'c', 'd'].map((one) => queue.vendorsBegun().indexOf(one)))).toBeLessThan(6)
  })

  test('take turns even if one has many receivers', async () => {
    const queue = new TestQueue()
    for (let at = 0; at < 20; at += 1) queue.add('a', `r${at}`, 5)
    queue.add('b', 'r', 5)
    run(queue, { quick: 1 })
    for (let at = 1; at <= 6; at += 1) {
      await expect.poll(() => queue.begun.length).toBe(at)
      queue.finish()
    }
    expect(
      queue
        .vendorsBegun()
        .slice(0, 6)
        .filter((one) => one === 'b'),
    ).toHaveLength(3)
  })

  test('hold no more than their share of the slots', async () => {
    const queue = new TestQueue()
    queue.add('a', 'one', 20)
    queue.add('a', 'two', 20)
    const runner = run(queue)
    await expect.poll(() => queue.running.size).toBe(3)
    queue.add('b', 'one', 20)
    runner.wake()
    await expect.poll(() => queue.running.size).toBe(6)
    queue.answer = () => true
    queue.finish()
    await expect.poll(() => queue.rows).toEqual([])
    expect(queue.most).toBe(6)
  })

  test('beyond a page of lanes are all served', async () => {
    const queue = new TestQueue()
    queue.answer = () => true
    for (let at = 0; at < 3000; at += 1) queue.add(`v${at}`)
    run(queue)
    await expect.poll(() => queue.rows.length).toBe(0)
    expect(queue.begun).toHaveLength(3000)
  })
})

describe('receivers', () => {
  test('that hang leave the quick slots, so that a thousand of them delay no healthy one', async () => {
    const queue = new TestQueue()
    queue.answer = ({ lane }) => (lane.receiver === 'well' ? true : undefined)
    queue.add('z', 'well')
    const runner = run(queue, { reserved: 1 }, { slowAfterMs: 5 })
    await expect.poll(() => queue.rows).toEqual([])
    for (let at = 0; at < 1000; at += 1) queue.add(`v${at}`, `hangs ${at}`)
    runner.wake()
    // Hanging ones fill the overflow; then no further unknown receiver is tried.
    await expect.poll(() => queue.running.size).toBeGreaterThanOrEqual(4)
    queue.add('z', 'well', 50)
    runner.wake()
    await expect.poll(() => queue.rows.filter(({ lane }) => lane.vendor === 'z')).toEqual([])
    expect(queue.most).toBeLessThanOrEqual(4 + 6)
  })

  test('that were slow use only the few slow slots', async () => {
    const queue = new TestQueue()
    for (let at = 0; at < 4; at += 1) queue.add(`v${at}`)
    const runner = run(queue, {}, { slowAfterMs: 5 })
    await expect.poll(() => queue.running.size).toBe(4)
    queue.add('late')
    runner.wake()
    // The overflow is full of slow ones: an unknown receiver waits.
    const isLate = ({ lane }: Row) => lane.vendor === 'late'
    await expect.poll(() => runner.isIdle).toBe(true)
    queue.finish()
    await expect.poll(() => queue.begun.some(isLate)).toBe(true)
    queue.finish(isLate)
    for (let at = 0; at < 4; at += 1) queue.add(`v${at}`, undefined, 10)
    runner.wake()
    await expect.poll(() => queue.running.size).toBe(2)
    await expect.poll(() => runner.isIdle).toBe(true)
    expect(queue.running.size).toBe(2)
  })

  test('that fail are tried once at a time, with growing pauses, and at full speed once they answer', async () => {
    const queue = new TestQueue()
    queue.answer = () => false
    queue.add('a', 'down', 1)
    const runner = run(queue)
    await expect.poll(() => queue.begun.length).toBe(1)
    queue.add('a', 'down', 40)
    const begunAfter = async (ms: number) => {
      queue.now += ms
      const before = queue.begun.length
      runner.wake()
      await expect.poll(() => runner.isIdle).toBe(true)
      return queue.begun.length - before
    }
    expect(await begunAfter(999)).toBe(0)
    expect(await begunAfter(1)).toBe(1)
    expect(await begunAfter(1999)).toBe(0)
    expect(await begunAfter(1)).toBe(1)
    for (let at = 0; at < 8; at += 1) await begunAfter(60_000)
    expect(await begunAfter(29_999)).toBe(0)
    queue.answer = () => true
    queue.now += 1
    runner.wake()
    await expect.poll(() => queue.rows).toEqual([])
  })

  test('that a queue knows as failing are tried carefully by a new process too', async () => {
    const queue = new TestQueue()
    queue.add('a', 'down', 9, true)
    run(queue)
    await expect.poll(() => queue.running.size).toBe(1)
    expect(queue.most).toBe(1)
  })
})

describe('a process', () => {
  test('that dies leaves rows that another one claims after their lease', async () => {
    const queue = new TestQueue()
    queue.add('a')
    run(queue)
    await expect.poll(() => queue.begun.length).toBe(1)
    const other = run(queue)
    await expect.poll(() => other.isIdle).toBe(true)
    expect(queue.begun).toHaveLength(1)
    queue.now += 120_000
    other.wake()
    await expect.poll(() => queue.begun.length).toBe(2)
    queue.finish()
  })

  test('that stops claims nothing more, and aborts what does not end within the grace', async () => {
    const queue = new TestQueue()
    queue.add('a', 'hangs', 9)
    const signals: AbortSignal[] = []
    const hang = (signal: AbortSignal) =>
      new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false)))
    queue.deliver = (async (_row: Row, signal: AbortSignal) => {
      signals.push(signal)
      return hang(signal)
    }) as typeof queue.deliver
    const runner = run(queue)
    await expect.poll(() => signals.length).toBe(3)
    await runner.end()
    runner.wake()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true])
  })

  test('whose database fails reports it once, and goes on afterwards', async () => {
    const queue = new TestQueue()
    queue.answer = () => true
    queue.add('a')
    const { hasDue } = queue
    queue.hasDue = () => Promise.reject(new Error('no database'))
    const runner = run(queue)
    for (let at = 0; at < 3; at += 1) {
      runner.wake()
      await expect.poll(() => runner.isIdle).toBe(true)
    }
    expect(errors).toHaveLength(1)
    queue.hasDue = hasDue
    runner.wake()
    await expect.poll(() => queue.rows).toEqual([])
  })

  test('whose delivery throws counts it as failed, and goes on with other receivers', async () => {
    const queue = new TestQueue()
    queue.answer = ({ lane }) => {
      if (lane.vendor === 'a') throw new Error('a bug')
      return true
    }
    queue.add('a')
    queue.add('b')
    run(queue)
    await expect.poll(() => queue.begun.length).toBe(2)
    await expect.poll(() => errors.length).toBe(1)
  })
})
