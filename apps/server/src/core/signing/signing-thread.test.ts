import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { importPrivateKey, newSigningKey } from './signing.ts'
import { type SigningOptions, SigningThread, startSigningWorker } from './signing-thread.ts'

const opened: SigningThread[] = []
afterEach(async () => {
  for (const thread of opened.splice(0)) await thread.close()
})

/** A signing thread that records its workers and messages. */
function open(options: SigningOptions = {}) {
  const workers: Worker[] = []
  const sent: unknown[] = []
  const thread = new SigningThread({
    ...options,
    startWorker: (memory) => {
      const worker = (options.startWorker ?? startSigningWorker)(memory)
      const post = worker.postMessage.bind(worker)
      worker.postMessage = (message: unknown) => {
        sent.push(message)
        post(message)
      }
      workers.push(worker)
      return worker
    },
  })
  opened.push(thread)
  return { thread, workers, sent }
}

async function openReady(options: SigningOptions = {}) {
  const opened = open(options)
  const signed = opened.thread.sign('first', keys[0])
  await Promise.all([signed, once(opened.workers[0] as Worker, 'message')])
  return opened
}

const newKey = (): KeyObject => importPrivateKey(newSigningKey().privateKey)
const keys = [newKey(), newKey(), newKey()] as const

const isSigned = (base: string, key: KeyObject, signature: string): boolean =>
  verify(null, Buffer.from(base, 'latin1'), createPublicKey(key), Buffer.from(signature, 'base64'))

/** Signs many texts with several keys concurrently; returns whether each signature matches its text and key. */
async function signMany(thread: SigningThread, count: number): Promise<boolean> {
  const many = Array.from({ length: count }, (_, at) => ({
    base: `text ${at} ü`,
    key: keys[at % 3] ?? keys[0],
  }))
  const signatures = await Promise.all(many.map(({ base, key }) => thread.sign(base, key)))
  return many.every(({ base, key }, at) => isSigned(base, key, signatures[at] ?? ''))
}

test('never leaves a text unsigned when its thread falls asleep and wakes up', async () => {
  const { thread } = await openReady()
  for (let round = 0; round < 2000; round += 1) {
    const texts = Array.from({ length: (round % 9) + 1 }, (_, at) => thread.sign(`${round} ${at}`, keys[0]))
    expect(await Promise.all(texts)).toHaveLength(texts.length)
  }
})

test('signs each text with its own key, before the worker is ready and after', async () => {
  const { thread, workers, sent } = open()
  const early = signMany(thread, 20)
  expect(sent).toHaveLength(0)
  const ready = once(workers[0] as Worker, 'message')
  expect(await early).toBe(true)
  await ready
  expect(await signMany(thread, 20)).toBe(true)
  expect(sent).toHaveLength(3)
})

test('sends each key once and no message for a text', async () => {
  const { thread, sent } = await openReady()
  await signMany(thread, 50)
  await signMany(thread, 50)
  expect(sent).toMatchObject([{ number: 1 }, { number: 2 }, { number: 3 }])
})

test('is woken for several signatures at once', async () => {
  const { thread, workers } = await openReady()
  let woken = 0
  workers[0]?.on('message', () => {
    woken += 1
  })
  // On a busy machine everything may be signed before this thread looks: then it needs no wake-up.
  while (woken === 0) await signMany(thread, 160)
  expect(woken).toBeLessThan(80)
})

test('signs texts that arrive one after the other', async () => {
  const { thread } = await openReady()
  for (let count = 0; count < 1500; count += 1) {
    const signature = await thread.sign(`text ${count}`, keys[0])
    expect(isSigned(`text ${count}`, keys[0], signature)).toBe(true)
  }
})

test('signs more texts at once than the ring holds, and longer ones', async () => {
  const { thread } = await openReady()
  const long = 'x'.repeat(5000)
  const [areSigned, signature] = await Promise.all([signMany(thread, 3000), thread.sign(long, keys[1])])
  expect(areSigned).toBe(true)
  expect(isSigned(long, keys[1], signature)).toBe(true)
  expect(await signMany(thread, 3000)).toBe(true)
})

test('drops keys beyond its bound and still signs with the correct one', async () => {
  const { thread, sent } = await openReady({ keysKept: 2 })
  for (const key of [...keys, ...keys]) {
    expect(isSigned('text', key, await thread.sign('text', key))).toBe(true)
  }
  expect(sent.some((message) => (message as { forget: boolean }).forget)).toBe(true)
  expect(await signMany(thread, 30)).toBe(true)
})

test('signs what a killed worker left unsigned, and starts another worker', async () => {
  const { thread, workers } = await openReady({ restartAfterMs: 0 })
  const signing = signMany(thread, 200)
  await new Promise(setImmediate)
  const [signed] = await Promise.all([signing, workers[0]?.terminate()])
  expect(signed).toBe(true)
  const again = signMany(thread, 20)
  expect(workers).toHaveLength(2)
  const ready = once(workers[1] as Worker, 'message')
  expect(await again).toBe(true)
  await ready
  expect(await signMany(thread, 20)).toBe(true)
})

const start = (code: string) => () => new Worker(code, { eval: true })
const ready = `const { parentPort } = require('node:worker_threads'); parentPort.postMessage('ready');`

test.each([
  ['crashes with each message', `${ready} parentPort.on('message', () => { throw new Error('crash') })`],
  ['exits with each message', `${ready} parentPort.on('message', () => process.exit(1))`],
])('signs everything even if the worker %s', async (_what, code) => {
  const { thread } = await openReady({ startWorker: start(code), restartAfterMs: 0 })
  for (let round = 0; round < 3; round += 1) expect(await signMany(thread, 20)).toBe(true)
})

test('signs everything even if no worker can start', async () => {
  const crashed = Promise.withResolvers<unknown>()
  const { thread } = open({
    startWorker: start('throw new Error("no start")'),
    restartAfterMs: 0,
    onError: crashed.resolve,
  })
  expect(await signMany(thread, 5)).toBe(true)
  expect(await crashed.promise).toMatchObject({ message: 'no start' })
  expect(await signMany(thread, 5)).toBe(true)
})

test('signs everything even if the system allows no further thread', async () => {
  const errors: unknown[] = []
  const thread = new SigningThread({
    mostWaiting: 5,
    startWorker: () => {
      throw new Error('no threads')
    },
    onError: (error) => errors.push(error),
  })
  for (let round = 0; round < 3; round += 1) expect(await signMany(thread, 5)).toBe(true)
  expect(errors).toMatchObject([{ message: 'no threads' }])
})

test('rejects more than may wait, and recovers once those are signed', async () => {
  const { thread } = await openReady({ mostWaiting: 10 })
  const settled = await Promise.allSettled(Array.from({ length: 12 }, () => thread.sign('text', keys[0])))
  const rejected = settled.filter(({ status }) => status === 'rejected')
  expect(rejected).toMatchObject([{ reason: { code: 'unavailable' } }, { reason: { code: 'unavailable' } }])
  expect(await signMany(thread, 10)).toBe(true)
})

test('signs pending texts when closed, and later ones too', async () => {
  const { thread } = await openReady()
  const signing = signMany(thread, 100)
  await thread.close()
  expect(await signing).toBe(true)
  expect(await signMany(thread, 5)).toBe(true)
})
