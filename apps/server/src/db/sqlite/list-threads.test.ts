import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { currentRequest } from '../../core/networks/caller.ts'
import { SlowQueries } from '../slow-queries.ts'
import { ListThreads } from './thread.ts'

/** Threads whose queries end on demand; a search takes 400 ms and another query one. */
function openThreads() {
  const running = new Map<string, () => void>()
  const threads = new ListThreads(
    () => ({
      run: (text, [name] = []) =>
        new Promise((resolve) => {
          const ms = { search: 400, counts: 0.01 }[text] ?? 1
          running.set(String(name), () => resolve({ rows: [], changes: 0, ms }))
        }),
      close: async () => {},
    }),
    new SlowQueries(),
    { run: (_text, [name]) => ({ rows: [name], changes: 0 }) },
  )
  const run = async (text: string, account: string, address: string) => {
    const caller = { account, address, isKnown: true }
    void currentRequest.run({ caller, userAgent: undefined }, () =>
      threads.read(text.split(' ')[0] ?? '', [text]),
    )
    await setImmediate()
  }
  const read = (text: string, at: number, app = 'app_1') => threads.readSteady(text, [at, app])
  const end = async (text: string) => {
    running.get(text)?.()
    running.delete(text)
    await setImmediate()
  }
  return { running: () => [...running.keys()], run, read, end }
}

test.each([
  ['one account', () => 'own_1', () => '192.0.2.1'],
  ['30 accounts of one address', (at: number) => `own_${at}`, () => '192.0.2.1'],
  ['30 accounts of 30 networks', (at: number) => `own_${at}`, (at: number) => `10.${at}.0.1`],
])('120 searches of %s leave a thread free for the lists of another one', async (_who, account, address) => {
  const { running, run, end } = openThreads()
  for (let at = 0; at < 120; at += 1) await run(`search ${at}`, account(at % 30), address(at % 30))
  for (const text of running()) await end(text)
  expect(running()).toHaveLength(1)
  for (let at = 0; at < 5; at += 1) {
    await run(`list ${at}`, 'own_other', '198.51.100.7')
    expect(running()).toEqual([expect.stringMatching('search'), `list ${at}`])
    await end(`list ${at}`)
  }
})

test('what was quick for an app is read at once, and what took longer or is of another app is not', async () => {
  const { running, read, end } = openThreads()
  const [first, long] = [read('counts', 1), read('pages', 2)]
  await setImmediate()
  await end('1')
  await end('2')
  await Promise.all([first, long])
  expect(await read('counts', 3)).toEqual([3])
  void read('pages', 4)
  void read('counts', 5, 'app_large')
  await setImmediate()
  expect(running()).toEqual(['4', '5'])
})

test('a list of another account is next while searches occupy both threads', async () => {
  const { running, run, end } = openThreads()
  for (let at = 0; at < 20; at += 1) await run(`search ${at}`, `own_${at}`, '192.0.2.1')
  await run('list', 'own_other', '198.51.100.7')
  const [first = ''] = running()
  await end(first)
  expect(running()).toContain('list')
})
