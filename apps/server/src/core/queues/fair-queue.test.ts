import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../networks/caller.ts'
import { problem } from '../problem.ts'
import { type EndTurn, FairQueue, type FairQueueOptions } from './fair-queue.ts'

/** A queue on a clock that stands still, and who was served by it in which order. */
function open(options: Partial<FairQueueOptions> = {}) {
  const queue = new FairQueue({
    running: 1,
    waiting: 1000,
    rejection: () => problem('busy'),
    now: () => 0,
    ...options,
  })
  const begun: string[] = []
  const refused: string[] = []
  const ends: EndTurn[] = []
  const enter = (name: string, caller: Partial<Caller> = {}, asked: Parameters<FairQueue['enter']>[1] = {}) =>
    queue.enter({ address: '192.0.2.1', account: name, ...caller }, asked).then(
      (end) => {
        begun.push(name)
        ends.push(end)
      },
      () => void refused.push(name),
    )
  /** Ends turns in order of their start, each at this cost, until none begins any more. */
  const serve = async (cost?: number, most = Number.POSITIVE_INFINITY) => {
    for (let at = 0; at < most; at += 1) {
      await setImmediate()
      const end = ends.shift()
      if (!end) return
      end(cost)
    }
    await setImmediate()
  }
  return { queue, begun, refused, enter, serve }
}

const inNetworks = (count: number) =>
  Array.from({ length: count }, (_, at) => `2001:db8:0:${at.toString(16)}::/64`)

test('starts no lighter call of others before a heavy one that is next', async () => {
  const { begun, enter, serve } = open({ running: 4, perNetwork: 2 })
  for (let at = 0; at < 4; at += 1) void enter(`light ${at}`, { address: `192.0.${at % 2}.1` })
  void enter('heavy', { address: '198.51.100.7' }, { weight: 2 })
  for (let at = 4; at < 12; at += 1) void enter(`light ${at}`, { address: `192.0.${at % 2}.1` })
  await serve(undefined, 3)
  expect(begun).toEqual(['light 0', 'light 1', 'light 2', 'light 3', 'heavy', 'light 4'])
})

describe('serves equally', () => {
  test.each([
    ['/64 networks of one /56', inNetworks(256), '2001:db8:1::/64'],
    [
      '/56 networks of one /48',
      inNetworks(256).map((_, at) => `2001:db8:0:${(at * 256).toString(16)}::/64`),
      '2001:db8:1::/64',
    ],
    [
      '/48 networks of one /32',
      inNetworks(256).map((_, at) => `2001:db8:${at.toString(16)}::/64`),
      '2001:db9::/64',
    ],
    ['addresses of one /24', inNetworks(256).map((_, at) => `192.0.2.${at}`), '198.51.100.7'],
    ['accounts at one address', inNetworks(256).map(() => '192.0.2.1'), '192.0.2.2'],
  ])('one caller and many from %s', async (_what, many, one) => {
    const { begun, enter, serve } = open()
    for (const [at, address] of many.entries()) void enter(`many ${at}`, { address })
    for (let at = 0; at < 5; at += 1) void enter(`one ${at}`, { address: one })
    await serve(1, 11)
    expect(begun.filter((name) => name.startsWith('one'))).toHaveLength(5)
  })

  test('callers of the same network by account', async () => {
    const { begun, enter, serve } = open()
    for (let at = 0; at < 50; at += 1) void enter(`busy ${at}`, { account: 'busy' })
    void enter('other')
    await serve(1, 3)
    expect(begun).toContain('other')
  })

  test('known callers and strangers from any number of networks', async () => {
    const { begun, enter, serve } = open()
    for (let at = 0; at < 100; at += 1) void enter(`stranger ${at}`, { address: `10.${at}.0.1` })
    for (let at = 0; at < 10; at += 1) void enter(`known ${at}`, { address: '10.0.0.1', isKnown: true })
    await serve(1, 21)
    expect(begun.filter((name) => name.startsWith('known'))).toHaveLength(10)
  })
})

test('serves the network whose turns cost least recently', async () => {
  const { begun, enter, serve } = open()
  void enter('running')
  for (let at = 0; at < 4; at += 1) void enter(`costly ${at}`, { address: '10.0.0.1' })
  await serve(1, 1)
  await serve(100, 1)
  for (let at = 0; at < 4; at += 1) void enter(`cheap ${at}`, { address: '10.1.0.1' })
  await serve(10, 5)
  expect(begun.slice(3, 7)).toEqual(['cheap 0', 'cheap 1', 'cheap 2', 'cheap 3'])
})

test('a full queue displaces the newest of the largest network and admits the newcomer', async () => {
  const { begun, refused, enter, serve } = open({ waiting: 8 })
  void enter('running')
  for (const [at, address] of inNetworks(8).entries()) void enter(`many ${at}`, { address })
  for (let at = 0; at < 3; at += 1) void enter(`one ${at}`, { address: `10.${at}.0.1` })
  await setImmediate()
  expect(refused).toEqual(['many 7', 'many 6', 'many 5'])
  void enter('many 8', { address: '2001:db8:0:9::/64' })
  await serve(1)
  expect(refused.at(-1)).toBe('many 8')
  expect(begun).toHaveLength(9)
})

describe('a full queue has a place for a newcomer', () => {
  const fill = (addresses: string[]) => {
    const opened = open({ waiting: addresses.length })
    void opened.enter('running', { address: '10.200.0.1' })
    for (const [at, address] of addresses.entries()) void opened.enter(`many ${at}`, { address })
    return opened
  }

  test('of another network, but for none of the network that waits most', () => {
    const { queue } = fill(inNetworks(8))
    expect(queue.hasPlaceFor({ address: '198.51.100.7' })).toBe(true)
    for (const address of inNetworks(32)) expect(queue.hasPlaceFor({ address })).toBe(false)
  })

  test('of an address in the /24 network of the one that waits most', () => {
    const { queue } = fill(Array.from({ length: 8 }, () => '192.0.2.1'))
    expect(queue.hasPlaceFor({ address: '192.0.2.2' })).toBe(true)
    expect(queue.hasPlaceFor({ address: '192.0.2.1' })).toBe(false)
  })

  test('of an unrelated network, because it may be known', () => {
    const { queue } = fill(Array.from({ length: 8 }, (_, at) => `10.${at}.0.1`))
    expect(queue.hasPlaceFor({ address: '198.51.100.7' })).toBe(true)
    expect(queue.hasPlaceFor({ address: '10.0.0.1' })).toBe(false)
  })

  test('of a network about as often as a turn ends, however many of its members try', async () => {
    const { queue, begun, refused, enter, serve } = fill(inNetworks(128))
    for (let round = 0; round < 20; round += 1) {
      for (const [at, address] of inNetworks(256).entries())
        if (queue.hasPlaceFor({ address })) void enter(`again ${round} ${at}`, { address })
      await serve(1, 1)
    }
    expect(begun).toHaveLength(21)
    expect(refused.length).toBeLessThan(20)
  })
})

test('keeps half of the places for known callers', async () => {
  const { refused, enter } = open({ waiting: 8 })
  void enter('running')
  for (let at = 0; at < 8; at += 1) void enter(`stranger ${at}`, { address: `10.${at}.0.1` })
  for (let at = 0; at < 4; at += 1) void enter(`known ${at}`, { isKnown: true })
  for (let at = 8; at < 20; at += 1) void enter(`stranger ${at}`, { address: `10.${at}.0.1` })
  await setImmediate()
  expect(refused.filter((name) => name.startsWith('known'))).toEqual([])
  expect(refused).toHaveLength(16)
})

test('limits what an account runs and keeps waiting, from any number of addresses', async () => {
  const { begun, refused, enter, serve } = open({ running: 10, perAccount: { running: 1, waiting: 1 } })
  for (let at = 0; at < 3; at += 1) void enter(`call ${at}`, { account: 'own_1', address: `10.0.${at}.1` })
  void enter('other')
  await setImmediate()
  expect(begun).toEqual(['call 0', 'other'])
  expect(refused).toEqual(['call 2'])
  await serve()
  expect(begun).toEqual(['call 0', 'other', 'call 1'])
})

test('bounds what runs by weight, and leaves room for other networks', async () => {
  const { begun, enter, serve } = open({ running: 10, perNetwork: 6 })
  for (let at = 0; at < 3; at += 1) void enter(`many ${at}`, { address: `10.0.0.${at}` }, { weight: 3 })
  void enter('one', { address: '10.0.1.1' }, { weight: 4 })
  void enter('too large', { address: '10.0.2.1' }, { weight: 100 })
  await setImmediate()
  expect(begun).toEqual(['many 0', 'many 1', 'one'])
  await serve()
  expect(begun).toHaveLength(5)
})

test('keeps a place for turns that are not slow', async () => {
  const { begun, enter, serve } = open({ running: 2, slow: 1 })
  for (let at = 0; at < 3; at += 1) void enter(`slow ${at}`, {}, { isSlow: () => true })
  await setImmediate()
  expect(begun).toEqual(['slow 0'])
  void enter('quick')
  await setImmediate()
  expect(begun).toEqual(['slow 0', 'quick'])
  await serve()
  expect(begun).toEqual(['slow 0', 'quick', 'slow 1', 'slow 2'])
})

test('starts a bounded number per turn of the event loop', async () => {
  const { begun, enter } = open({ running: 100, startsPerTurn: 2 })
  for (let at = 0; at < 12; at += 1) void enter(`call ${at}`)
  const added: number[] = []
  for (let at = 0; at < 4; at += 1) {
    const before = begun.length
    await setImmediate()
    added.push(begun.length - before)
  }
  expect(added.slice(1)).toEqual([2, 2, 2])
})

test('rejects a caller that waits too long and serves the next one', async () => {
  const { begun, refused, enter, serve } = open({ waitMs: 20 })
  void enter('running')
  await enter('late')
  expect(refused).toEqual(['late'])
  void enter('next')
  await serve()
  expect(begun).toEqual(['running', 'next'])
})

test('a turn ends once', async () => {
  const { queue, begun, enter } = open()
  const end = await queue.enter({ address: '192.0.2.1', account: 'first' })
  for (const name of ['second', 'third']) void enter(name)
  end()
  end()
  await setImmediate()
  expect(begun).toEqual(['second'])
})
