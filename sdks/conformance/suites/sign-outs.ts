import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { useMachines } from '../machines.ts'
import { type Behaviour, plain, refuse, type Space, send, succeed, user } from '../stand-in.ts'

const ada = { username: 'ada', password: 'secret1' }
const signIns: [string, unknown[]][] = [
  ['license', ['KEY']],
  ['login', [ada]],
  ['register', [{ ...ada, licenseKey: 'KEY' }]],
  ['trial', [{}]],
  ['session', []],
]

/** Sign-ins that are still under way when the user signs out. */
export function signOuts(adapter: () => Adapter): void {
  describe('a sign-out', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)

    /** Holds the answer to `held` back until the program has signed out. */
    function hold(space: Space, held: string, behaviour: Behaviour) {
      const seen = join(adapter().folder, randomUUID())
      let release = () => {}
      space.on(held, (request, response) => {
        release = () => send(response, behaviour(request, response)!)
        writeFileSync(seen, '')
        return undefined
      })
      space.on('logout', (request, response) => {
        setTimeout(release, 200)
        return succeed({})(request, response)
      })
      return seen
    }

    const overtaken = { result: { ok: false, code: 'sessionUnauthed', message: expect.stringMatching(/\w/) } }
    const signedOut = { result: { ok: true } }

    it.each(signIns)('overtakes an answer to %s, which signs nobody in', async (method, args) => {
      const { space, start, kept } = machine()
      const id = await start()
      await call(id, 'init')
      const after = hold(space, method, succeed({ user, deviceToken: 'token-1' }))
      const results = await adapter().together([
        { id, method, args },
        { id, method: 'logout', after },
      ])
      expect(results).toMatchObject([overtaken, signedOut])
      expect(await call(id, 'has', 'pro')).toMatchObject({ result: false })
      expect(kept()).toMatchObject({ lease: '', user: null })
      expect(kept().deviceToken ?? null).toBeNull()
      expect(space.requests('lease')).toHaveLength(0)
    })

    it('keeps a sign-in that has no session yet from being sent', async () => {
      const { space, start } = machine()
      const id = await start()
      const after = join(adapter().folder, randomUUID())
      space.on('init', (request, response) => {
        setTimeout(() => send(response, opened(request, response)!), 4_000)
        writeFileSync(after, '')
        return undefined
      })
      const results = await adapter().together([
        { id, method: 'license', args: ['KEY'] },
        { id, method: 'logout', after },
      ])
      expect(results).toMatchObject([overtaken, signedOut])
      expect(space.requests('license')).toHaveLength(0)
      expect(await call(id, 'has', 'pro')).toMatchObject({ result: false })
    })

    it('keeps a sign-in whose session it ended from being repeated', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'init')
      const after = hold(space, 'license', refuse(401, 'sessionUnauthed'))
      const results = await adapter().together([
        { id, method: 'license', args: ['KEY'] },
        { id, method: 'logout', after },
      ])
      expect(results).toMatchObject([{ result: { ok: false, code: 'sessionUnauthed' } }, signedOut])
      expect(space.requests('license')).toHaveLength(1)
      expect(space.requests('init')).toHaveLength(1)
    })

    it('leaves a refusal, an upgrade and a network error what they are', async () => {
      const { space, start } = machine()
      for (const [method, args, behaviour, result] of [
        ['license', ['KEY'], refuse(403, 'userBanned'), { result: { ok: false, code: 'userBanned' } }],
        ['upgrade', [{ username: 'ada', licenseKey: 'KEY' }], succeed({ user }), { result: { ok: true } }],
        ['license', ['KEY'], plain(404), { error: { kind: 'network', code: 'wrong_address' } }],
      ] as const) {
        const id = await start()
        await call(id, 'init')
        const after = hold(space, method, behaviour)
        const results = await adapter().together([
          { id, method, args: [...args] },
          { id, method: 'logout', after },
        ])
        expect(results).toMatchObject([result, signedOut])
        expect(await call(id, 'has', 'pro')).toMatchObject({ result: false })
      }
    })

    it('overtakes a sign-in that waits for its lease', async () => {
      const { space, start, kept } = machine()
      const id = await start()
      await call(id, 'init')
      const after = hold(space, 'lease', refuse(403, 'hwidMismatch'))
      const results = await adapter().together([
        { id, method: 'license', args: ['KEY'] },
        { id, method: 'logout', after },
      ])
      expect(results).toMatchObject([overtaken, signedOut])
      expect(await call(id, 'has', 'pro')).toMatchObject({ result: false })
      expect(kept()).toMatchObject({ lease: '', user: null })
    })

    it('does not concern the sign-in after it', async () => {
      const { start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      expect(await call(id, 'logout')).toMatchObject(signedOut)
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true, user } })
      expect(await call(id, 'has', 'pro')).toMatchObject({ result: true })
    })
  })
}

const opened = succeed({ session: 'session-1', app: { name: 'Tally', version: '1.0.0' }, variables: {} })
