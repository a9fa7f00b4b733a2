import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operator } from '../networks/caller.ts'
import { HashThreads, hashingPriority } from './hash-threads.ts'
import { Passwords } from './passwords.ts'

/** The real threads, counting concurrent work. */
class CountingThreads extends HashThreads {
  running = 0
  most = 0
  compared: string[] = []

  async #count<T>(work: Promise<T>): Promise<T> {
    this.running += 1
    this.most = Math.max(this.most, this.running)
    return work.finally(() => {
      this.running -= 1
    })
  }

  override hash(...args: Parameters<HashThreads['hash']>) {
    return this.#count(super.hash(...args))
  }

  override verify(...args: Parameters<HashThreads['verify']>) {
    this.compared.push(args[0])
    return this.#count(super.verify(...args))
  }
}

async function verify(passwords: Passwords, stored: string | null | undefined, password: string) {
  const turn = await passwords.enter(operator)
  return passwords.verify(stored, password, turn).finally(() => turn.end())
}

test('verifies a password against its own hash only', async () => {
  const passwords = new Passwords()
  const stored = await passwords.hash('Größe', operator)
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await verify(passwords, stored, 'Gro\u0308ße'.normalize('NFD'))).toBe(true)
  expect(await verify(passwords, stored, 'Grösse')).toBe(false)
  expect(passwords.isOutdated(stored)).toBe(false)
  expect(passwords.isOutdated(stored.replace('t=2', 't=1'))).toBe(true)
})

test('bounds concurrent and waiting hashes and rejects the rest', async () => {
  const threads = new CountingThreads()
  const passwords = new Passwords({ atWork: 2, queue: 3, threads })
  const asked = Array.from({ length: 9 }, (_, at) => passwords.hash(`password ${at}`, operator))
  const results = await Promise.allSettled(asked)
  expect(threads.most).toBe(2)
  expect(results.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 6 }, () => 'fulfilled'),
    ...Array.from({ length: 3 }, () => 'rejected'),
  ])
  const { reason } = results.at(-1) as PromiseRejectedResult
  expect(reason).toMatchObject({ code: 'busy', status: 429, retryAfterSeconds: 1 })
  expect(await Promise.all(asked.slice(0, 2).map(() => passwords.hash('again', operator)))).toHaveLength(2)
})

test('answers a refusal late, so that an endless loop of attempts leaves time for others', async () => {
  const refusalMs = 50
  const passwords = new Passwords({ atWork: 1, queue: 1, threads: new CountingThreads(), refusalMs })
  const address = '192.0.2.1'
  const asked = Array.from({ length: 3 }, (_, at) => passwords.hash(`${at}`, { address, account: `${at}` }))
  const started = performance.now()
  const refused = [passwords.hash('late', { address, account: 'late' }), passwords.refuseStranger(address)]
  for (const one of await Promise.allSettled(refused))
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'busy' } })
  // Timers of Node may run a millisecond early.
  expect(performance.now() - started).toBeGreaterThan(refusalMs - 2)
  await Promise.all(asked)
  expect(passwords.refuseStranger(address)).toBeUndefined()
})

test('hashes with the same parameters for a missing account', async () => {
  const threads = new CountingThreads()
  const passwords = new Passwords({ threads })
  for (const missing of [undefined, null]) expect(await verify(passwords, missing, 'swordfish')).toBe(false)
  expect(threads.compared).toHaveLength(2)
  for (const decoy of threads.compared) expect(passwords.isOutdated(decoy)).toBe(false)
})

test('hashes of another system leave a thread to others, and their callers wait by what they cost', async () => {
  const cost12 = `$2y$12$${'a'.repeat(53)}`
  const held: (() => void)[] = []
  class HeldThreads extends CountingThreads {
    override verify(stored: string): Promise<boolean> {
      this.compared.push(stored)
      return stored === cost12
        ? new Promise((resolve) => held.push(() => resolve(true)))
        : Promise.resolve(true)
    }
  }
  const threads = new HeldThreads()
  const passwords = new Passwords({ atWork: 2, threads })
  const from = async (address: string, stored: string) => {
    const turn = await passwords.enter({ address, account: address })
    return passwords.verify(stored, 'swordfish', turn).finally(() => turn.end())
  }
  const slow = Array.from({ length: 6 }, (_, at) => from(`192.0.2.${at}`, cost12))
  await expect.poll(() => held.length).toBe(1)
  expect(await from('198.51.100.1', 'our own')).toBe(true)
  expect(held).toHaveLength(1)
  const cheap = from('203.0.113.1', cost12)
  held.shift()?.()
  await expect.poll(() => held.length).toBe(1)
  held.shift()?.()
  expect(await Promise.race([cheap.then(() => 'cheap'), ...slow.slice(1)])).toBe('cheap')
  const all = Promise.all(slow)
  const pump = setInterval(() => held.shift()?.(), 1)
  expect(await all).toEqual(slow.map(() => true))
  clearInterval(pump)
})

test('an unreadable hash is an error and keeps the thread alive', async () => {
  const passwords = new Passwords({ atWork: 1 })
  await expect(verify(passwords, 'garbage', 'swordfish')).rejects.toThrow()
  expect(await verify(passwords, await passwords.hash('swordfish', operator), 'swordfish')).toBe(true)
})

test.skipIf(process.platform === 'win32')(
  'hashes use no thread of the pool that signs responses',
  async () => {
    const passwords = new Passwords({ atWork: 1 })
    await passwords.hash('starts the thread', operator)
    const folder = mkdtempSync(join(tmpdir(), 'keyward-pool-'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    // Opening a pipe without a writer blocks a pool thread.
    const readers = Array.from({ length: Number(process.env.UV_THREADPOOL_SIZE ?? 4) }, () => open(pipe, 'r'))
    try {
      expect(await passwords.hash('while the pool is full', operator)).toContain('argon2id')
    } finally {
      closeSync(openSync(pipe, 'w'))
      for (const reader of readers) await (await reader).close()
      rmSync(folder, { recursive: true })
    }
  },
)

test.runIf(process.platform === 'linux')(
  'hashes at a low priority and leaves that of other threads as it is',
  async () => {
    const threads = new HashThreads()
    const before = countPriorities()
    await threads.hash('some password', { memoryCost: 64, timeCost: 1, parallelism: 1 })
    const after = countPriorities()
    expect(after.low).toBe(before.low + 1)
    expect(after.normal).toBeGreaterThanOrEqual(1)
    expect(getPriority()).toBe(before.own)
  },
)

/** Counts the threads of this process by their priority. */
function countPriorities() {
  const priorities = readdirSync('/proc/self/task').map((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
    // Behind the name, which may contain spaces and parentheses.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
  const count = (wanted: number) => priorities.filter((priority) => priority === wanted).length
  return { low: count(hashingPriority), normal: count(getPriority()), own: getPriority() }
}
