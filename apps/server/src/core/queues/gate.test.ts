import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { problem } from '../problem.ts'
import { Gate } from './gate.ts'

const gate = (options: { running: number; waiting: number; waitMs?: number }) =>
  new Gate({ ...options, rejection: () => problem('too_many_at_once') })

const turns = async (count: number) => {
  for (let at = 0; at < count; at += 1) await setImmediate()
}

test('runs a bounded number of requests per account, the others in order of arrival', async () => {
  const of = gate({ running: 2, waiting: 10 })
  const begun: number[] = []
  const ends: (() => void)[] = []
  for (let at = 0; at < 5; at += 1) {
    void of.enter('own_1').then((end) => {
      begun.push(at)
      ends.push(end)
    })
  }
  await turns(5)
  expect(begun).toEqual([0, 1])
  ends[1]?.()
  ends[1]?.()
  await turns(5)
  expect(begun).toEqual([0, 1, 2])
  for (const end of ends.splice(0)) end()
  await turns(5)
  expect(begun).toEqual([0, 1, 2, 3, 4])
})

test('starts at most one request per account and event loop turn', async () => {
  const of = gate({ running: 4, waiting: 10 })
  let begun = 0
  const added: number[] = []
  for (let at = 0; at < 6; at += 1) {
    void of.enter('own_1').then((end) => {
      begun += 1
      end()
    })
  }
  for (let at = 0; at < 5; at += 1) {
    const before = begun
    await setImmediate()
    added.push(begun - before)
  }
  expect(added.slice(1)).toEqual([1, 1, 1, 1])
})

test('rejects more than may wait, and delays no other account', async () => {
  const of = gate({ running: 1, waiting: 1 })
  const end = await of.enter('own_1')
  const second = of.enter('own_1')
  await expect(of.enter('own_1')).rejects.toMatchObject({ code: 'too_many_at_once' })
  const other = await of.enter('own_2')
  end()
  const endSecond = await second
  endSecond()
  other()
  await turns(5)
  await (await of.enter('own_1'))()
})

test('rejects a request that waits too long and runs the next one', async () => {
  const of = gate({ running: 1, waiting: 2, waitMs: 20 })
  const end = await of.enter('own_1')
  await expect(of.enter('own_1')).rejects.toMatchObject({ code: 'too_many_at_once' })
  const third = of.enter('own_1')
  end()
  await (await third)()
  await turns(5)
  await (await of.enter('own_1'))()
})
