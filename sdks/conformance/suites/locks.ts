import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { lockOf, lockOfEndedProgram } from '../../../packages/sdk/test/ended-program.ts'
import { testKey, toPublic } from '../../../packages/sdk/test/signer.ts'
import type { Adapter } from '../adapter.ts'

/** The lock file with which programs take turns at the file in the user's data folder. */
export function locks(adapter: () => Adapter): void {
  describe('the lock of the file in the user’s data folder', () => {
    let count = 0

    async function program() {
      const appId = `l0ck${String(count++).padStart(4, '0')}`
      const id = randomUUID()
      const facts = { baseUrl: 'http://127.0.0.1:1', appId, secret: 's', version: '1.0.0', hwid: 'machine-1' }
      await adapter().open(id, { ...facts, publicKeys: [toPublic(testKey)], storage: 'user-data' })
      const folder = join(adapter().folder, 'keyward')
      mkdirSync(folder, { recursive: true })
      const path = join(folder, `${appId}.json`)
      return {
        id,
        path,
        lock: `${path}.lock`,
        files: () => readdirSync(folder).filter((name) => name.startsWith(appId)),
        /** Stores something; returns how long that took. */
        async store(key = 'KEY') {
          const startedAt = performance.now()
          const answer = await adapter().call(id, 'offlineRequest', key)
          expect(answer).toMatchObject({ result: expect.stringMatching(/^KWR1-/) })
          return performance.now() - startedAt
        },
      }
    }
    const linux = it.skipIf(process.platform !== 'linux')
    const waited = 1_900

    /** Whether a program stores without waiting for the lock; a slow machine may need several rounds to show it. */
    async function isQuick(store: (key: string) => Promise<number>, put: () => unknown): Promise<boolean> {
      for (let round = 0; round < 5; round++) {
        await put()
        if ((await store(`QUICK-${round}`)) < waited) return true
      }
      return false
    }

    linux('names the program that holds it', async () => {
      const { path, lock, store } = await program()
      // A large file, so that a change takes a while.
      writeFileSync(path, JSON.stringify({ future: 'x'.repeat(3_000_000) }))
      let seen = ''
      for (let at = 0; at < 20 && seen === ''; at++) {
        let isStored = false
        const storing = store(`KEY-${at}`).finally(() => {
          isStored = true
        })
        while (!isStored && seen === '') {
          await setImmediate()
          try {
            seen = readFileSync(lock, 'utf8')
          } catch {}
        }
        await storing
      }
      expect(seen).toBe(lockOf(adapter().pid))
    })

    linux('delays no program after the one that held it was killed', async () => {
      const { lock, files, store } = await program()
      expect(await isQuick(store, async () => writeFileSync(lock, await lockOfEndedProgram()))).toBe(true)
      expect(files()).toHaveLength(1)
    })

    linux('is free where another program has the number of the one that was killed', async () => {
      const { lock, files, store } = await program()
      const [pid, start, ...rest] = lockOf(process.pid).split(' ')
      const content = [pid, Number(start) - 1, ...rest].join(' ')
      expect(await isQuick(store, () => writeFileSync(lock, content))).toBe(true)
      expect(files()).toHaveLength(1)
    })

    const valid: [what: string, content: () => Promise<string>][] = [
      ['of a program that runs', async () => lockOf(process.pid)],
      ['of an earlier version', async () => ''],
      ['of which a part was written', async () => (await lockOfEndedProgram()).slice(0, -1)],
      ['of another start of the machine', async () => (await lockOfEndedProgram()).replace(/ \w+-/, ' 0-')],
      ['of a container', async () => (await lockOfEndedProgram()).replace(/pid:\[\d+\]/, 'pid:[1]')],
    ]
    const invalid: [what: string, put: (lock: string) => unknown][] = [
      ['a number alone', (lock) => writeFileSync(lock, `${process.pid}\n`)],
      ['numbers without spaces', (lock) => writeFileSync(lock, '12x34')],
      ['bytes that are no text', (lock) => writeFileSync(lock, Uint8Array.of(0, 255, 254, 32, 49, 32, 10))],
      ['a pipe', (lock) => execFileSync('mkfifo', [lock])],
      ['a folder', (lock) => mkdirSync(lock)],
      ['a link to nothing', (lock) => symlinkSync('nothing', lock)],
    ]
    const claimed = 'that another program removes'
    const past = () => new Date(Date.now() - 11_000)

    describe.skipIf(process.platform === 'win32')('that a program waits for', () => {
      type Waiting = Awaited<ReturnType<typeof program>> & { content: string; waitedMs: number }
      const waiting = new Map<string, Waiting>()
      // All at the same time, because each waits for two seconds.
      beforeAll(async () => {
        const add = async (what: string) => {
          const one = { ...(await program()), content: '', waitedMs: 0 }
          waiting.set(what, one)
          return one
        }
        if (process.platform === 'linux') {
          for (const [what, content] of valid) {
            const one = await add(what)
            one.content = await content()
            writeFileSync(one.lock, one.content)
          }
          const { lock } = await add(claimed)
          writeFileSync(lock, await lockOfEndedProgram())
          writeFileSync(`${lock}.claim`, '')
        }
        for (const [what, put] of invalid) put((await add(what)).lock)
        const all = [...waiting.values()]
        const startedAt = Date.now()
        const answers = await adapter().together(
          all.map(({ id }) => ({ id, method: 'offlineRequest', args: ['KEY'] })),
        )
        expect(answers).toEqual(answers.map(() => ({ result: expect.stringMatching(/^KWR1-/) })))
        for (const one of all) one.waitedMs = statSync(one.path).mtimeMs - startedAt
      })

      linux.each(valid)('stays for ten seconds: one %s', async (what) => {
        const { lock, files, store, content, waitedMs } = waiting.get(what)!
        expect(waitedMs).toBeGreaterThan(waited)
        expect(readFileSync(lock, 'utf8')).toBe(content)
        const put = () => {
          writeFileSync(lock, content)
          utimesSync(lock, past(), past())
        }
        expect(await isQuick(store, put)).toBe(true)
        expect(files()).toHaveLength(1)
      })

      it.each(invalid)('is judged by its age, and stops no program: %s', async (what) => {
        const { waitedMs } = waiting.get(what)!
        expect(waitedMs).toBeGreaterThan(waited)
        expect(waitedMs).toBeLessThan(9_000)
      })

      linux(
        'is left alone by a program that finds another one at it, until that one was killed, too',
        async () => {
          const { lock, files, store, waitedMs } = waiting.get(claimed)!
          expect(waitedMs).toBeGreaterThan(waited)
          const put = async () => {
            writeFileSync(lock, await lockOfEndedProgram())
            writeFileSync(`${lock}.claim`, '')
            utimesSync(`${lock}.claim`, past(), past())
          }
          expect(await isQuick(store, put)).toBe(true)
          expect(files()).toHaveLength(1)
        },
      )
    })
  })
}
