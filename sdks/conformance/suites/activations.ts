import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { activationClaims } from '../../vectors/leases.ts'
import type { Adapter } from '../adapter.ts'
import { appId, hour, hwid, issued, makeFile, makeLease, nonceOf, problem, useMachines } from '../machines.ts'
import { refuse, signed } from '../stand-in.ts'

/** Requests and files of machines that are never online. */
export function activations(adapter: () => Adapter): void {
  describe('a machine that is never online', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    const rejected = { error: { kind: 'usage', code: 'activation_rejected' } }

    it('runs again after a clock that was far ahead, once the server has said what time it is', async () => {
      const { space, start, startOffline } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      await call(id, 'activateOffline', makeFile(request))
      expect(await call(await startOffline(issued + 300 * 24 * hour), 'session')).toMatchObject({
        result: { ok: true },
      })
      const now = issued + 2 * hour
      expect(await call(await startOffline(now), 'session')).toMatchObject(problem('clock_set_back'))
      const content = { success: false, code: 'sessionUnauthed', message: 'nobody is signed in' }
      space.on('session', (seen) => signed(seen, 401, content, { created: now }))
      expect(await call(await start({}, now), 'session')).toMatchObject({ result: { ok: true } })
      expect(await call(await startOffline(now), 'session')).toMatchObject({ result: { ok: true } })
    })

    it('makes one request per key until a file answers it', async () => {
      const { startOffline } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', ' KEY ')
      expect(request).toMatch(/^KWR1(?:-[0-9A-HJKMNP-TV-Z]{1,5})+$/)
      expect(await call(id, 'offlineRequest', 'KEY')).toEqual({ result: request })
      expect(await call(await startOffline(), 'offlineRequest', 'KEY')).toEqual({ result: request })
      const nonce = nonceOf(request)
      const facts = { appId, hwid, licenseKey: 'KEY', nonce }
      expect(await adapter().ask({ op: 'encodeRequest', ...facts })).toEqual({ request })
      const { result: other } = await call(id, 'offlineRequest', 'OTHER')
      expect(nonceOf(other)).not.toBe(nonce)
      expect(await call(id, 'activateOffline', makeFile(request))).toMatchObject(rejected)
      expect(await call(id, 'activateOffline', makeFile(other))).toMatchObject({ result: { ok: true } })
      const { result: next } = await call(id, 'offlineRequest', 'OTHER')
      expect(nonceOf(next)).not.toBe(nonceOf(other))
    })

    it('runs with its file, also after a restart, until the file ends', async () => {
      const { startOffline, kept } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      const file = makeFile(request)
      const until = new Date(activationClaims.exp * 1000).toISOString()
      const answer = {
        ok: true,
        user: {
          _id: activationClaims.sub,
          username: 'ada',
          term: 'date',
          features: ['pro'],
          expiresAt: until,
        },
        offline: { until, graceUntil: until, inGrace: false },
      }
      expect(await call(id, 'activateOffline', `\n${file}\r\n`)).toMatchObject({ result: answer })
      expect((await call(id, 'has', 'pro')).result).toBe(true)
      expect(kept().activation).toMatchObject({ file, nonce: nonceOf(request) })
      const restarted = await startOffline()
      expect(await call(restarted, 'session')).toMatchObject({ result: answer })
      expect(await call(restarted, 'license', 'KEY')).toMatchObject({ result: answer })
      expect(await call(restarted, 'license', 'OTHER')).toMatchObject(problem('no_lease'))
      const other = await startOffline(undefined, { hwid: 'another machine' })
      expect(await call(other, 'session')).toMatchObject(problem('no_lease'))
      await adapter().ask({ op: 'now', id: restarted, now: activationClaims.exp })
      expect(await call(restarted, 'session')).toMatchObject(problem('lease_ended'))
      await adapter().ask({ op: 'now', id: restarted, now: issued - 14 * hour - 1 })
      expect(await call(restarted, 'session')).toMatchObject(problem('clock_set_back'))
    })

    it('runs forever with a file that never ends', async () => {
      const { startOffline } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      await call(id, 'activateOffline', makeFile(request, { exp: null, expiresAt: null, term: 'forever' }))
      const later = await startOffline(issued + 40_000 * 24 * hour)
      const { result } = await call(later, 'session')
      expect(result).toMatchObject({ ok: true, user: { term: 'forever' }, offline: { inGrace: false } })
      expect([
        result.offline.until ?? null,
        result.offline.graceUntil ?? null,
        result.user.expiresAt ?? null,
      ]).toEqual([null, null, null])
    })

    it('accepts no file without a request, for another one, or of another kind', async () => {
      const { startOffline } = machine()
      const id = await startOffline()
      const request = `KWR1-${'0'.repeat(20)}`
      expect(await call(id, 'activateOffline', makeFile(request))).toMatchObject(rejected)
      const { result: own } = await call(id, 'offlineRequest', 'KEY')
      const nonce = nonceOf(own)
      for (const file of [
        makeFile(request),
        makeFile(own, { hwid: '0'.repeat(64) }),
        makeFile(own, {}, { typ: 'keyward-lease+jws' }),
        makeLease({ nonce }),
        'rubbish',
        '',
      ]) {
        expect(await call(id, 'activateOffline', file), file).toMatchObject(rejected)
      }
      expect(await call(id, 'activateOffline', makeFile(own))).toMatchObject({ result: { ok: true } })
      expect(await call(id, 'activateOffline', makeFile(own)), 'used').toMatchObject(rejected)
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
    })

    it('gives the code with which its device is freed, and runs no more', async () => {
      const { startOffline, path } = machine()
      const id = await startOffline()
      const none = { error: { kind: 'usage', code: 'no_activation' } }
      expect(await call(id, 'deactivateOffline')).toMatchObject(none)
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      const activated = await call(id, 'activateOffline', makeFile(request))
      expect(JSON.stringify(activated)).not.toContain('KWD1-')
      expect(await call(id, 'deactivateOffline')).toEqual({ result: activationClaims.deactivation })
      expect(readFileSync(path, 'utf8')).not.toContain(makeFile(request))
      expect((await call(id, 'has', 'pro')).result).toBe(false)
      expect(await call(id, 'deactivateOffline')).toMatchObject(none)
      expect(await call(id, 'session')).toMatchObject(problem('no_lease'))
      expect(await call(id, 'activateOffline', makeFile(request))).toMatchObject(rejected)
    })

    it('runs online without a signed-in user, and never after a refusal', async () => {
      const { space, start, startOffline } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      await call(id, 'activateOffline', makeFile(request))
      space.on('session', refuse(401, 'sessionUnauthed'))
      const online = await start()
      expect(await call(online, 'session')).toMatchObject({
        result: { ok: true, user: { _id: activationClaims.sub }, offline: { inGrace: false } },
      })
      space.on('session', refuse(403, 'pausedApp'))
      expect(await call(online, 'session')).toMatchObject({ result: { ok: false, code: 'pausedApp' } })
      expect(await call(await startOffline(), 'session')).toMatchObject({ result: { ok: true } })
      space.on('license', refuse(403, 'keyBanned'))
      expect(await call(await start(), 'license', 'KEY')).toMatchObject({
        result: { ok: false, code: 'keyBanned' },
      })
      expect(await call(await startOffline(), 'session')).toMatchObject(problem('no_lease'))
    })

    it('needs storage, a hardware id and a key', async () => {
      const { startOffline } = machine()
      const usage = (code: string) => ({ error: { kind: 'usage', code } })
      const bare = await startOffline(undefined, { storage: undefined })
      for (const [method, ...args] of [
        ['offlineRequest', 'KEY'],
        ['activateOffline', 'x'],
        ['deactivateOffline'],
      ] as [string, ...string[]][]) {
        expect(await call(bare, method, ...args)).toMatchObject(usage('invalid_options'))
      }
      const anonymous = await startOffline(undefined, { hwid: null })
      expect(await call(anonymous, 'offlineRequest', 'KEY')).toMatchObject(usage('hwid_unavailable'))
      const id = await startOffline()
      for (const key of ['', '  ', 'x'.repeat(101)]) {
        expect(await call(id, 'offlineRequest', key)).toMatchObject(usage('invalid_argument'))
      }
    })
  })
}
