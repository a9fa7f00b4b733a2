import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
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
      writeFileSync(lock, await lockOfEndedProgram())
      expect(await store()).toBeLessThan(waited)
      expect(files()).toHaveLength(1)
    })

    linux('is free where another program has the number of the one that was killed', async () => {
      const { lock, files, store } = await program()
      const [pid, start, ...rest] = lockOf(process.pid).split(' ')
      writeFileSync(lock, [pid, Number(start) - 1, ...rest].join(' '))
      expect(await store()).toBeLessThan(waited)
      expect(files()).toHaveLength(1)
    })

    it.each([
      ['of a program that runs', async () => lockOf(process.pid)],
      ['of an earlier version', async () => ''],
      ['of which a part was written', async () => (await lockOfEndedProgram()).slice(0, -1)],
      ['of another start of the machine', async () => (await lockOfEndedProgram()).replace(/ \w+-/, ' 0-')],
      ['of a container', async () => (await lockOfEndedProgram()).replace(/pid:\[\d+\]/, 'pid:[1]')],
    ])('stays for ten seconds: one %s', async (_, text) => {
      if (process.platform !== 'linux') return
      const { lock, files, store } = await program()
      const content = await text()
      writeFileSync(lock, content)
      expect(await store()).toBeGreaterThan(waited)
      expect(readFileSync(lock, 'utf8')).toBe(content)
      const past = new Date(Date.now() - 11_000)
      utimesSync(lock, past, past)
      expect(await store('KEY-2')).toBeLessThan(waited)
      expect(files()).toHaveLength(1)
    })

    it.each([
      ['a number alone', (lock: string) => writeFileSync(lock, `${process.pid}\n`)],
      ['numbers without spaces', (lock: string) => writeFileSync(lock, '12x34')],
      [
        'bytes that are no text',
        (lock: string) => writeFileSync(lock, Uint8Array.of(0, 255, 254, 32, 49, 32, 10)),
      ],
      ['a pipe', (lock: string) => execFileSync('mkfifo', [lock])],
      ['a folder', (lock: string) => mkdirSync(lock)],
      ['a link to nothing', (lock: string) => symlinkSync('nothing', lock)],
    ])('is judged by its age, and stops no program: %s', async (_, put) => {
      if (process.platform === 'win32') return
      const { lock, store } = await program()
      put(lock)
      const tookMs = await store()
      expect(tookMs).toBeGreaterThan(waited)
      expect(tookMs).toBeLessThan(3 * waited)
    })

    linux(
      'is left alone by a program that finds another one at it, until that one was killed, too',
      async () => {
        const { lock, files, store } = await program()
        writeFileSync(lock, await lockOfEndedProgram())
        const claim = `${lock}.claim`
        writeFileSync(claim, '')
        expect(await store()).toBeGreaterThan(waited)
        const past = new Date(Date.now() - 11_000)
        utimesSync(claim, past, past)
        expect(await store('KEY-2')).toBeLessThan(waited)
        expect(files()).toHaveLength(1)
      },
    )
  })
}
