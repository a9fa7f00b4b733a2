import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../apps/server/test/eventually.ts'
import { otherKey } from '../../../packages/sdk/test/signer.ts'
import type { Adapter } from '../adapter.ts'
import { makeLease, problem, useMachines } from '../machines.ts'
import { type Behaviour, plain, refuse, signed, succeed, unusedAddress, user } from '../stand-in.ts'

const silent: Behaviour = () => undefined
const opened = succeed({ session: 'session-1', app: { name: 'Tally', version: '1.0.0' }, variables: {} })
const offline = { result: { ok: true, user: { _id: user._id }, offline: { inGrace: false } } }

/** How long a program with a lease waits for its server. */
export function away(adapter: () => Adapter): void {
  describe('a program with a lease whose server is away', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    const elapse = (id: string, seconds: number) => adapter().ask({ op: 'elapse', id, seconds })
    const timed = async (work: () => Promise<unknown>) => {
      const startedAt = performance.now()
      await work()
      return performance.now() - startedAt
    }
    const isOnline = async (id: string) => {
      const { result } = await call(id, 'session')
      return result?.ok === true && (result.offline ?? null) === null
    }

    it('waits three seconds at its start for a server that stays silent, and then no more', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', silent)
      for (const [method, ...args] of [['session'], ['license', 'KEY']] as [string, ...string[]][]) {
        const id = await start({ timeoutMs: 15_000, log: true })
        const startMs = await timed(async () => {
          expect(await call(id, method, ...args)).toMatchObject(offline)
        })
        expect(startMs).toBeGreaterThan(2_000)
        expect(startMs).toBeLessThan(7_000)
        const laterMs = await timed(async () => {
          for (let at = 0; at < 10; at++) expect(await call(id, 'session')).toMatchObject(offline)
          expect(await call(id, 'license', 'KEY')).toMatchObject(offline)
        })
        expect(laterMs).toBeLessThan(6_000)
        const { result: events } = await adapter().ask({ op: 'events', id })
        expect(events.filter(({ event }: { event: string }) => event === 'offline')[0]).toEqual({
          event: 'offline',
          call: method,
          code: 'timed_out',
        })
      }
    })

    it('waits for a refused connection once', async () => {
      const { start } = machine()
      await call(await start(), 'license', 'KEY')
      const id = await start({ baseUrl: await unusedAddress() })
      expect(await call(id, 'session')).toMatchObject(offline)
      const laterMs = await timed(async () => {
        for (let at = 0; at < 10; at++) expect(await call(id, 'session')).toMatchObject(offline)
      })
      expect(laterMs).toBeLessThan(4_000)
    })

    it('asks in the background, and the refusal that it learns applies to the next call', async () => {
      const { space, start, kept } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', plain(404))
      const id = await start()
      expect(await call(id, 'session')).toMatchObject(offline)
      expect(await call(id, 'has', 'pro')).toMatchObject({ result: true })
      space.on('init', opened)
      space.on('session', refuse(403, 'userBanned'))
      expect(await call(id, 'session')).toMatchObject(offline)
      await eventually(() => expect(kept().lease).toBe(''))
      await eventually(async () => {
        expect(await call(id, 'has', 'pro')).toMatchObject({ result: false })
      })
      expect(await call(id, 'session')).toMatchObject({ result: { ok: false, code: 'userBanned' } })
      space.on('init', plain(404))
      expect(await call(await start(), 'session')).toMatchObject(problem('no_lease'))
    })

    it('raises a forged answer that it got in the background with the next call', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', plain(404))
      const id = await start()
      expect(await call(id, 'session')).toMatchObject(offline)
      space.on('init', (seen) => signed(seen, 200, { success: true }, { key: otherKey }))
      const requests = space.requests('init').length
      expect(await call(id, 'session')).toMatchObject(offline)
      await eventually(() => expect(space.requests('init').length).toBe(requests + 1))
      await eventually(async () => {
        expect(await call(id, 'session')).toMatchObject({ error: { kind: 'signature', code: 'unknown_key' } })
      })
    })

    it('is online again after one answer in the background', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', plain(404))
      const id = await start()
      expect(await call(id, 'session')).toMatchObject(offline)
      space.on('init', opened)
      expect(await call(id, 'session')).toMatchObject(offline)
      await eventually(async () => expect(await isOnline(id)).toBe(true))
    })

    it('asks in the background one request at a time, and five seconds apart', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      const before = space.requests('init').length
      space.on('init', plain(404))
      const id = await start()
      const count = () => space.requests('init').length - before
      for (let at = 0; at < 10; at++) expect(await call(id, 'session')).toMatchObject(offline)
      await eventually(() => expect(count()).toBe(2))
      // The program may still be reading the answer.
      await setTimeout(200)
      for (let at = 0; at < 5; at++) expect(await call(id, 'session')).toMatchObject(offline)
      expect(count()).toBe(2)
      await elapse(id, 6)
      expect(await call(id, 'session')).toMatchObject(offline)
      await eventually(() => expect(count()).toBe(3))
    })

    it('asks the server first again after a minute without a call', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', plain(404))
      const id = await start()
      expect(await call(id, 'session')).toMatchObject(offline)
      space.on('init', opened)
      await elapse(id, 61)
      expect(await isOnline(id)).toBe(true)
    })

    it('asks the server first again after a sign-out', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', plain(404))
      const id = await start()
      expect(await call(id, 'session')).toMatchObject(offline)
      await call(id, 'logout')
      expect(await call(id, 'license', 'KEY')).toMatchObject(problem('no_lease'))
      space.on('init', opened)
      const { result } = await call(id, 'license', 'KEY')
      expect([result.ok, result.offline ?? null]).toEqual([true, null])
    })

    it('asks the server first again after a sign-in', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', plain(404))
      expect(await call(id, 'session')).toMatchObject(offline)
      space.on('session', succeed({ user }))
      await call(id, 'login', { username: 'ada', password: 'secret1' })
      expect(await isOnline(id)).toBe(true)
    })

    it('asks the server first after a sign-in, also if an earlier request in the background fails later', async () => {
      const { space, start } = machine()
      const id = await start({ timeoutMs: 4_000, log: true })
      await call(id, 'license', 'KEY')
      space.on('session', plain(404))
      expect(await call(id, 'session')).toMatchObject(offline)
      space.on('session', silent)
      expect(await call(id, 'session')).toMatchObject(offline)
      await eventually(() => expect(space.requests('session').length).toBe(2))
      const { result } = await call(id, 'login', { username: 'ada', password: 'secret1' })
      expect(result).toMatchObject({ ok: true })
      await eventually(async () => {
        const { result: events } = await adapter().ask({ op: 'events', id })
        expect(events).toContainEqual(
          expect.objectContaining({ event: 'failed', call: 'session', code: 'timed_out' }),
        )
      })
      space.on('session', succeed({ user }))
      expect(await isOnline(id)).toBe(true)
    })

    it('keeps the variables that it had', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', (_, response) => void response.destroy())
      const { result } = await call(id, 'session')
      expect(result).toMatchObject({ ok: true, user: { variables: user.variables }, offline: {} })
      expect(await call(id, 'variable', 'token')).toEqual({ result: 'for users' })
      await call(id, 'logout')
      expect((await call(id, 'variable', 'token')).result ?? null).toBeNull()
    })

    it('reads the variables of its lease, and those of the last answer before them', async () => {
      const { space, start, startOffline } = machine()
      const variables = { token: 'of the lease', endpoint: 'https://api.example.com', damaged: 1 }
      space.on('lease', succeed({ lease: makeLease({ variables }) }))
      const id = await start()
      await call(id, 'license', 'KEY')
      const restarted = await startOffline()
      expect(await call(restarted, 'session')).toMatchObject(offline)
      const read = async (program: string) => [
        (await call(program, 'variable', 'token')).result ?? null,
        (await call(program, 'variable', 'endpoint')).result ?? null,
        (await call(program, 'variable', 'damaged')).result ?? null,
      ]
      expect(await read(restarted)).toEqual(['of the lease', variables.endpoint, null])
      space.on('session', (_, response) => void response.destroy())
      expect(await call(id, 'session')).toMatchObject(offline)
      expect(await read(id)).toEqual(['for users', variables.endpoint, null])
    })

    it('gives a server the whole time that is needed for the first sign-in', async () => {
      const { space, start } = machine()
      space.on('init', (seen, response) => {
        const { status, headers, body } = opened(seen, response)!
        setTimeout(3_500).then(() => response.writeHead(status, headers).end(body))
        return undefined
      })
      const { result } = await call(await start({ timeoutMs: 30_000 }), 'license', 'KEY')
      expect([result.ok, result.offline ?? null]).toEqual([true, null])
    })
  })
}
