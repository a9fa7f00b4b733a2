import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KeywardStorage } from '../src/index.ts'
import { userDataFile } from '../src/user-data.ts'
import { lockOfEndedProgram } from './ended-program.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-data-'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})

/** Without this, a program waits for the lock for two seconds and then goes on without it. */
const waitForever = () => vi.useFakeTimers({ toFake: ['performance'] })

describe("the file in the user's data folder", () => {
  it('is written by two clients of one process at the same time', async () => {
    const files = Array.from({ length: 20 }, () => userDataFile('app12345', folder))
    await Promise.all(files.map((file, at) => file.write(`text ${at}`)))
    expect(await files[0]!.read()).toMatch(/^text \d+$/)
    expect(readdirSync(join(folder, 'keyward'))).toEqual(['app12345.json'])
  })

  it('is changed by one program after the other', async () => {
    waitForever()
    const files = Array.from({ length: 20 }, () => userDataFile('app12345', folder))
    const increase = (file: KeywardStorage) =>
      file.lock!(async () => {
        const count = Number(await file.read())
        await new Promise((resolve) => setTimeout(resolve, 1))
        await file.write(`${count + 1}`)
      })
    await Promise.all(files.map(increase))
    expect(await files[0]!.read()).toBe('20')
    expect(readdirSync(join(folder, 'keyward'))).toEqual(['app12345.json'])
  })

  it.skipIf(process.platform !== 'linux')(
    'is taken over from a program that was killed by one program after the other',
    async () => {
      waitForever()
      const file = () => userDataFile('app12345', folder)
      for (let round = 1; round <= 5; round++) {
        await file().write('0')
        writeFileSync(join(folder, 'keyward', 'app12345.json.lock'), await lockOfEndedProgram())
        let running = 0
        const increase = () =>
          file().lock!(async () => {
            expect(++running).toBe(1)
            await file().write(`${Number(await file().read()) + 1}`)
            running -= 1
          })
        await Promise.all(Array.from({ length: 10 }, increase))
        expect(await file().read()).toBe('10')
        expect(readdirSync(join(folder, 'keyward'))).toEqual(['app12345.json'])
      }
    },
  )

  it('outlives a program that was ended during a change, and a change that fails', async () => {
    const file = userDataFile('app12345', folder)
    await expect(file.lock!(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const lock = join(folder, 'keyward', 'app12345.json.lock')
    writeFileSync(lock, '')
    utimesSync(lock, new Date(), new Date(Date.now() - 11_000))
    waitForever()
    expect(await file.lock!(async () => 'changed')).toBe('changed')
    vi.useRealTimers()
    writeFileSync(lock, '')
    const startedAt = performance.now()
    expect(await file.lock!(async () => 'changed')).toBe('changed')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2_000)
    expect(readdirSync(join(folder, 'keyward'))).toEqual(['app12345.json.lock'])
  })

  it.each(['', undefined])('has the usual folder where the variable is %o', async (value) => {
    const home = mkdtempSync(join(tmpdir(), 'keyward-home-'))
    for (const name of ['XDG_STATE_HOME', 'LOCALAPPDATA']) vi.stubEnv(name, value)
    for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, home)
    try {
      await userDataFile('app12345').write('text')
      expect(readdirSync(home, { recursive: true }).join()).toContain(join('keyward', 'app12345.json'))
    } finally {
      vi.unstubAllEnvs()
      rmSync(home, { recursive: true })
    }
  })

  it('is readable by the user alone, and replaced as a whole', async () => {
    const file = userDataFile('../app12345', folder)
    expect(await file.read()).toBeNull()
    await file.write('one')
    await file.write('two')
    expect(await file.read()).toBe('two')
    const path = join(folder, 'keyward', '___app12345.json')
    expect(readFileSync(path, 'utf8')).toBe('two')
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
    writeFileSync(path, '')
    expect(await file.read()).toBe('')
  })
})
