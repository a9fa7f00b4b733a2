import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { hwid, useMachines } from '../machines.ts'
import { refuse, type Space, send, succeed, user } from '../stand-in.ts'

const ended = refuse(401, 'sessionUnauthed')
const signedOut = { result: { ok: false, code: 'sessionUnauthed' } }
const granted = { result: { ok: true, user: { _id: user._id } } }
const validated = (used: boolean) => succeed({ valid: true, activated: used, license: { key: 'KEY', used } })

/** Each `init` opens a session of its own. */
function countSessions(space: Space): void {
  let opens = 0
  space.on('init', (...request) => {
    const session = `session-${++opens}`
    return succeed({ session, app: { name: 'Tally', version: '1.0.0' }, variables: {} })(...request)
  })
}

/** What a program does whose session has ended, and which session each of its requests belongs to. */
export function keySignIns(adapter: () => Adapter): void {
  describe('a session that has ended', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    const asleep = (space: Space) => {
      space.on('validate', validated(true))
      space.on('session', ended, succeed({ user }))
    }

    it('is followed by a sign-in with the same key, within one call', async () => {
      for (const options of [{}, { storage: undefined }]) {
        const { space, start } = machine()
        const id = await start(options)
        expect(await call(id, 'license', ' KEY ')).toMatchObject(granted)
        asleep(space)
        expect(await call(id, 'session')).toMatchObject(granted)
        expect(space.requests('license').map(({ body }) => body.licenseKey)).toEqual(['KEY', 'KEY'])
        expect(space.requests('validate').map(({ body }) => [body.hwid, body.activate ?? null])).toEqual([
          [hwid, null],
        ])
        expect(await call(id, 'session')).toMatchObject(granted)
        expect(space.requests('license')).toHaveLength(2)
      }
    })

    it('is followed by one sign-in for concurrent calls', async () => {
      const { space, start } = machine()
      countSessions(space)
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('validate', validated(true))
      space.on('session', (seen, response) => {
        const { authorization } = seen.headers
        if (authorization === 'Bearer session-1') return ended(seen, response)
        // Whether the sign-in of a new session arrives before a late check of it is chance.
        const answer = () => {
          const signedIn = space.requests('license').map(({ headers }) => headers.authorization)
          if (signedIn.includes(authorization)) send(response, succeed({ user })(seen, response)!)
          else setTimeout(answer, 5)
        }
        answer()
        return undefined
      })
      const results = await adapter().together(Array.from({ length: 6 }, () => ({ id, method: 'session' })))
      for (const each of results) expect(each).toMatchObject(granted)
      expect(space.requests('license')).toHaveLength(2)
    })

    it('is followed by at most one sign-in, whose refusal is the result', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', ended)
      space.on('validate', succeed({ valid: false, code: 'userBanned', license: null }))
      space.on('license', refuse(403, 'userBanned'))
      expect(await call(id, 'session')).toMatchObject({ result: { ok: false, code: 'userBanned' } })
      expect(space.requests('license')).toHaveLength(2)
      expect(await call(id, 'has', 'pro')).toMatchObject({ result: false })
    })

    it('does not take back a key that the vendor has freed', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', ended)
      space.on('validate', validated(false))
      expect(await call(id, 'session')).toMatchObject(signedOut)
      expect(await call(id, 'session')).toMatchObject(signedOut)
      expect(space.requests('license')).toHaveLength(1)
      expect(space.requests('validate')).toHaveLength(1)
    })

    it('stays ended after a sign-out, a new session, or a sign-in with a password', async () => {
      for (const [method, ...args] of [
        ['logout'],
        ['init'],
        ['login', { username: 'ada', password: 'secret1' }],
      ] as [string, ...unknown[]][]) {
        const { space, start } = machine()
        const id = await start()
        await call(id, 'license', 'KEY')
        await call(id, method, ...args)
        space.on('session', ended)
        expect(await call(id, 'session')).toMatchObject(signedOut)
        expect(space.requests('license')).toHaveLength(1)
        expect(space.requests('validate')).toHaveLength(0)
      }
    })

    it('is followed by the remembered sign-in where there is one', async () => {
      const { space, start } = machine()
      space.on('license', succeed({ user, deviceToken: 'token-1' }))
      space.on('resume', succeed({ user, deviceToken: 'token-2' }))
      const id = await start()
      await call(id, 'license', 'KEY')
      asleep(space)
      expect(await call(id, 'session')).toMatchObject(granted)
      expect(space.requests('resume')).toHaveLength(1)
      expect(space.requests('license')).toHaveLength(1)
    })

    it('never leaves a request without a session, however many calls end it at the same time', async () => {
      const { space, start } = machine()
      space.on('validate', validated(true))
      space.on('devices', succeed({ devices: [] }))
      countSessions(space)
      const id = await start()
      for (let round = 0; round < 15; round++) {
        const methods = ['session', 'logout', 'license', 'session', 'devices', 'logout', 'session']
        const calls = methods.map((method) => ({ id, method, args: method === 'license' ? ['KEY'] : [] }))
        for (const { error } of await adapter().together(calls)) expect(error).toBeUndefined()
        await call(id, 'license', 'KEY')
        const both = ['devices', 'logout'].map((method) => ({ id, method }))
        for (const { error } of await adapter().together(both)) expect(error).toBeUndefined()
      }
      const open = new Set(['init', 'validate'])
      const bare = space.seen.filter(({ call, headers }) => !open.has(call) && !headers.authorization)
      expect(bare.map(({ call }) => call)).toEqual([])
    })

    it('renews the lease with the session that was granted', async () => {
      const { space, start } = machine()
      countSessions(space)
      const id = await start()
      await call(id, 'license', 'KEY')
      asleep(space)
      await call(id, 'session')
      const sessionsOf = (name: string) => space.requests(name).map(({ headers }) => headers.authorization)
      expect(sessionsOf('lease')).toEqual(sessionsOf('license'))
      expect(new Set(sessionsOf('lease')).size).toBe(2)
    })
  })
}
