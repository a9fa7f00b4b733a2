import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Adapter, Answer } from '../adapter.ts'
import { plain, type Space, type StandIn, startStandIn } from '../stand-in.ts'
import { toBehaviour } from './retries.ts'
import { vectors } from './vectors.ts'

const { keys, appId, hwid, files, cases } = vectors('offline.json')
const calls = ['init', 'license', 'login', 'register', 'session', 'resume', 'lease', 'upgrade', 'validate']
const options = { publicKeys: keys, secret: 's', version: '1.0.0', hwid }

/** What an SDK answers from its storage file and leaves there. */
export function storage(adapter: () => Adapter): void {
  describe('the storage file', () => {
    let server: StandIn
    const spaces = new Map<string, Space>()
    const answers: Answer[] = []
    const pathOf = (at: number) => join(adapter().folder, `case-${at}.json`)
    const read = (at: number) => JSON.parse(readFileSync(pathOf(at), 'utf8'))

    beforeAll(async () => {
      server = await startStandIn()
      for (const [at, { name, method, args, stored, now, server: script }] of cases.entries()) {
        const space = server.space()
        spaces.set(name, space)
        for (const call of [...calls, 'devices', 'logout']) space.on(call, plain(511))
        for (const [call, behaviours] of Object.entries(script))
          space.on(call, ...behaviours.map(toBehaviour))
        if (stored !== null)
          writeFileSync(pathOf(at), typeof stored === 'string' ? stored : JSON.stringify(stored))
        const storage = { file: pathOf(at) }
        await adapter().open(name, { ...options, appId, baseUrl: space.baseUrl, storage }, now)
        // One at a time: a lease answers for a server that the load keeps waiting for three seconds.
        answers.push(await adapter().call(name, method, ...args))
      }
    })
    afterAll(() => server.close())

    it.each(cases.map((each, at) => [each.name, each, at] as const))('%s', (name, each, at) => {
      const { result, error, stored, requests = {} } = each.expect
      if (result) expect(answers[at]).toMatchObject({ result })
      if (error) expect(answers[at]).toMatchObject({ error })
      for (const [member, value] of Object.entries(stored ?? {})) {
        if (value === null) expect(read(at)[member] ?? null).toBeNull()
        else expect(read(at)).toMatchObject({ [member]: value })
      }
      for (const [call, count] of Object.entries(requests)) {
        expect(spaces.get(name)!.requests(call)).toHaveLength(count)
      }
    })

    it.each(files)('of the app $appId is $file in the folder of the user', async ({ appId, file }) => {
      const folder = join(adapter().folder, 'keyward')
      mkdirSync(folder, { recursive: true })
      const path = join(folder, file)
      writeFileSync(path, JSON.stringify({ mark: 'kept', deviceToken: 'token-1' }))
      const space = server.space()
      await adapter().open('file', { ...options, appId, baseUrl: space.baseUrl, storage: 'user-data' })
      await adapter().call('file', 'logout')
      expect(existsSync(path)).toBe(true)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ mark: 'kept', lease: '' })
      expect(JSON.parse(readFileSync(path, 'utf8')).deviceToken ?? null).toBeNull()
    })
  })
}
