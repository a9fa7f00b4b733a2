import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { leaseEndings } from '@keyward/contract'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../apps/server/test/eventually.ts'
import { otherKey } from '../../../packages/sdk/test/signer.ts'
import { leaseClaims } from '../../vectors/leases.ts'
import type { Adapter } from '../adapter.ts'
import { appId, hour, hwid, issued, makeFile, makeLease, problem, useMachines } from '../machines.ts'
import { type Behaviour, plain, refuse, signed, succeed, unusedAddress, user } from '../stand-in.ts'

/** What a program may do without its server, with a lease or a remembered sign-in, and what ends it. */
export function offline(adapter: () => Adapter): void {
  describe('without the server', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)

    it('a program runs with the lease of its last sign-in, and says so', async () => {
      const { start, startOffline, kept } = machine()
      const online = await call(await start(), 'license', 'KEY')
      expect(online).toMatchObject({ result: { ok: true, user } })
      expect(online.result.offline ?? null).toBeNull()
      expect(kept()).toMatchObject({ lease: makeLease(), latest: issued, user: { username: 'ada' } })
      const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
      const answered = {
        result: {
          ok: true,
          user: { _id: user._id, username: 'ada', features: ['pro'], variables: {} },
          offline: { until: iso(leaseClaims.exp), graceUntil: iso(leaseClaims.graceUntil), inGrace: false },
        },
      }
      const id = await startOffline()
      expect(await call(id, 'session')).toMatchObject(answered)
      expect((await call(id, 'has', 'pro')).result).toBe(true)
      expect((await call(id, 'variable', 'token')).result).toBeNull()
      expect(await call(await startOffline(), 'license', ' KEY ')).toMatchObject(answered)
      const unreachable = { baseUrl: await unusedAddress(), timeoutMs: 10_000 }
      expect(await call(await start(unreachable), 'session')).toMatchObject(answered)
    })

    it('it warns after the lease, and stops after its grace', async () => {
      const { start, startOffline } = machine()
      await call(await start(), 'license', 'KEY')
      const id = await startOffline(leaseClaims.exp)
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true, offline: { inGrace: true } } })
      await adapter().ask({ op: 'now', id, now: leaseClaims.graceUntil })
      expect(await call(id, 'session')).toMatchObject(problem('lease_ended'))
    })

    it('it stops when the clock is set back', async () => {
      const { start, startOffline, kept } = machine()
      await call(await start(), 'license', 'KEY')
      const id = await startOffline(issued + 100 * hour)
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
      expect(kept().latest).toBe(issued + 100 * hour)
      await adapter().ask({ op: 'now', id, now: issued + 50 * hour })
      expect(await call(id, 'session')).toMatchObject(problem('clock_set_back'))
      expect(await call(await startOffline(issued + hour), 'session')).toMatchObject(
        problem('clock_set_back'),
      )
    })

    it('it runs again after a clock that was far ahead, once the server has said what time it is', async () => {
      const { space, start, startOffline, kept } = machine()
      const at = (created: number, how: object = {}): Behaviour => {
        return (seen) => signed(seen, 200, { success: true, data: { user } }, { created, ...how })
      }
      await call(await start(), 'license', 'KEY')
      expect(await call(await startOffline(issued + 200 * hour), 'session')).toMatchObject({
        result: { ok: true },
      })
      const now = issued + 2 * hour
      const isAhead = async () => {
        expect(await call(await startOffline(now), 'session')).toMatchObject(problem('clock_set_back'))
        expect(kept().latest).toBe(issued + 200 * hour)
      }
      await isAhead()
      space.on('session', at(now, { key: otherKey }))
      expect(await call(await start({}, now), 'session')).toMatchObject({ error: { kind: 'signature' } })
      await isAhead()
      space.on('session', at(issued + 200 * hour - 200))
      expect(await call(await start({}, now), 'session')).toMatchObject({ result: { ok: true } })
      await isAhead()
      space.on('session', at(now))
      expect(await call(await start({}, now), 'session')).toMatchObject({ result: { ok: true } })
      expect(kept().latest).toBe(now)
      expect(await call(await startOffline(now + hour), 'session')).toMatchObject({ result: { ok: true } })
      // A clock in the wrong time zone is off by up to 14 hours. The time that passes since counts, too.
      expect(await call(await startOffline(now - 13 * hour + 60), 'session')).toMatchObject({
        result: { ok: true },
      })
      const earlier = await startOffline(now - 13 * hour - 60)
      expect(await call(earlier, 'session')).toMatchObject(problem('clock_set_back'))
    })

    it('nothing runs on another device, in another app, with another key or other public keys', async () => {
      const { start, startOffline } = machine()
      await call(await start(), 'license', 'KEY')
      for (const options of [
        { hwid: 'another machine' },
        { appId: 'an0therx' },
        { publicKeys: { ...otherKey, d: undefined } },
      ]) {
        const id = await startOffline(undefined, options)
        expect(await call(id, 'session')).toMatchObject(problem('no_lease'))
        expect((await call(id, 'has', 'pro')).result).toBe(false)
      }
      expect(await call(await startOffline(), 'license', 'OTHER')).toMatchObject(problem('no_lease'))
    })

    it('a password signs nobody in', async () => {
      const { start, startOffline } = machine()
      const ada = { username: 'ada', password: 'secret1' }
      await call(await start(), 'login', ada)
      expect(await call(await startOffline(), 'login', ada)).toMatchObject({ error: { kind: 'network' } })
      expect(await call(await startOffline(), 'session')).toMatchObject({ result: { ok: true } })
    })

    it.each(leaseEndings)('the lease ends with the refusal %s', async (code) => {
      const { space, start, startOffline, kept } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', refuse(403, code))
      expect(await call(id, 'session')).toMatchObject({ result: { ok: false, code } })
      expect((await call(id, 'has', 'pro')).result).toBe(false)
      expect(kept()).toMatchObject({ lease: '', latest: issued })
      expect(await call(await startOffline(), 'session')).toMatchObject(problem('no_lease'))
    })

    it('the lease ends with a sign-out, also one that does not reach the server', async () => {
      const { start, startOffline, kept } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      expect(await call(id, 'logout')).toMatchObject({ result: { ok: true } })
      expect(kept()).toMatchObject({ lease: '', user: null, latest: issued })
      await call(await start(), 'license', 'KEY')
      expect(await call(await startOffline(), 'logout')).toMatchObject({ result: { ok: true } })
      expect(await call(await startOffline(), 'session')).toMatchObject(problem('no_lease'))
    })

    it('features end when the server refuses to open a session', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      space.on('init', plain(200, '<html>', { 'content-type': 'text/html' }))
      const id = await start()
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
      expect((await call(id, 'has', 'pro')).result).toBe(true)
      space.on('init', refuse(403, 'appDisabled'))
      await eventually(async () => {
        expect(await call(id, 'session')).toMatchObject({ result: { ok: false, code: 'appDisabled' } })
      })
      expect((await call(id, 'has', 'pro')).result).toBe(false)
    })

    it('features end when the server refuses the key of the signed-in user, and not with a mistyped one', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('license', refuse(404, 'keyNotFound'), refuse(403, 'keyBanned'))
      expect(await call(id, 'license', 'KYE')).toMatchObject({ result: { ok: false, code: 'keyNotFound' } })
      expect((await call(id, 'has', 'pro')).result).toBe(true)
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: false, code: 'keyBanned' } })
      expect((await call(id, 'has', 'pro')).result).toBe(false)
    })

    it('a feature that ends before the lease is there until then', async () => {
      const { space, start, startOffline } = machine()
      const ends = issued + 2 * hour
      space.on('lease', succeed({ lease: makeLease({ featuresUntil: { cloud: ends } }) }))
      await call(await start(), 'license', 'KEY')
      const id = await startOffline(ends - 1)
      expect(await call(id, 'session')).toMatchObject({ result: { user: { features: ['pro', 'cloud'] } } })
      expect((await call(id, 'has', 'cloud')).result).toBe(true)
      await adapter().ask({ op: 'now', id, now: ends })
      expect(await call(id, 'session')).toMatchObject({ result: { user: { features: ['pro'] } } })
      expect((await call(id, 'has', 'cloud')).result).toBe(false)
      expect((await call(id, 'has', 'pro')).result).toBe(true)
    })

    it('features end with a sign-out of a program that has no session', async () => {
      const { start, startOffline } = machine()
      await call(await start(), 'license', 'KEY')
      const id = await startOffline()
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
      expect((await call(id, 'has', 'pro')).result).toBe(true)
      expect(await call(id, 'logout')).toMatchObject({ result: { ok: true } })
      expect((await call(id, 'has', 'pro')).result).toBe(false)
    })

    it.each([
      ['no key of the app', makeLease({}, { kid: otherKey.kid }, otherKey)],
      ['no key of the app under its kid', makeLease({}, {}, otherKey)],
      ['the type of an activation', makeLease({}, { typ: 'keyward-activation+jws' })],
      ['the algorithm none', makeLease({}, { alg: 'none' })],
      ['another app', makeLease({ aud: 'an0therx' })],
      ['another device', makeLease({ hwid: '0'.repeat(64) })],
      ['no form of a lease', 'lease'],
    ])('no lease is kept that has %s', async (_, lease) => {
      const { space, start, startOffline } = machine()
      space.on('lease', succeed({ lease }))
      expect(await call(await start(), 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      expect(await call(await startOffline(), 'session')).toMatchObject(problem('no_lease'))
    })

    it('an older lease never replaces a newer one', async () => {
      const { space, start, kept } = machine()
      space.on('lease', succeed({ lease: makeLease({ seq: 1_000 }) }))
      await call(await start(), 'license', 'KEY')
      space.on('lease', succeed({ lease: makeLease({ seq: 999 }) }))
      await call(await start(), 'license', 'KEY')
      expect(kept().lease).toBe(makeLease({ seq: 1_000 }))
      space.on('lease', succeed({ lease: makeLease({ seq: 1_001 }) }))
      await call(await start(), 'license', 'KEY')
      expect(kept().lease).toBe(makeLease({ seq: 1_001 }))
    })

    it('the lease is renewed when it is due, and only then', async () => {
      const { space, start } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      await call(id, 'session')
      await adapter().ask({ op: 'now', id, now: leaseClaims.refreshAfter - 1 })
      await call(id, 'session')
      expect(space.requests('lease')).toHaveLength(1)
      expect(space.requests('lease')[0]!.body).toEqual({ hwid })
      await adapter().ask({ op: 'now', id, now: leaseClaims.refreshAfter })
      await call(id, 'session')
      expect(space.requests('lease')).toHaveLength(2)
    })

    it('a lease that cannot be fetched or stored does not stop a program that is online', async () => {
      const { space, start } = machine()
      space.on('lease', refuse(403, 'hwidMismatch'))
      expect(await call(await start(), 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      const storage = { file: join(adapter().folder, 'none', 'none.json') }
      space.on('lease', succeed({ lease: makeLease() }))
      const id = await start({ storage })
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
    })

    it('a lease that does not come delays a call a little, and the next ones not at all', async () => {
      const { space, start } = machine()
      const id = await start({ timeoutMs: 60_000 })
      await call(id, 'login', { username: 'ada', password: 'secret1' })
      space.on('lease', () => undefined)
      await adapter().ask({ op: 'now', id, now: leaseClaims.refreshAfter })
      const issuedCount = space.requests('lease').length
      const startedAt = performance.now()
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
      expect(performance.now() - startedAt).toBeLessThan(15_000)
      expect(space.requests('lease').length).toBeGreaterThan(issuedCount)
      // The last attempt may arrive after the program has given it up.
      await setTimeout(500)
      const count = space.requests('lease').length
      const laterAt = performance.now()
      for (let at = 0; at < 3; at++) {
        expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
      }
      expect(performance.now() - laterAt).toBeLessThan(4_000)
      expect(space.requests('lease')).toHaveLength(count)
      expect((await call(id, 'has', 'pro')).result).toBe(true)
      space.on('lease', succeed({ lease: makeLease() }))
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      expect(space.requests('lease')).toHaveLength(count + 1)
    })

    it('a lease that does not come exceeds the time of no call', async () => {
      const { space, start } = machine()
      space.on('lease', () => undefined)
      const late: Behaviour = (seen, response) => {
        const { status, headers, body } = succeed({ user })(seen, response)!
        setTimeout(1_200).then(() => response.writeHead(status, headers).end(body))
        return undefined
      }
      // A slow machine may need a second attempt.
      space.on('license', late, succeed({ user }))
      const id = await start({ timeoutMs: 4_000 })
      await call(id, 'init')
      const startedAt = performance.now()
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      // The lease alone may take five seconds.
      expect(performance.now() - startedAt).toBeLessThan(6_000)
    })

    it('a program without storage or hardware id asks for no lease', async () => {
      const { space, start } = machine()
      await call(await start({ storage: undefined }), 'license', 'KEY')
      await call(await start({ hwid: null }), 'license', 'KEY')
      expect(space.requests('lease')).toHaveLength(0)
      expect(
        space.requests('license').map(({ body }) => [body.hwid ?? null, body.remember ?? false]),
      ).toEqual([
        [hwid, false],
        [null, false],
      ])
    })

    it('the lease answers after every unsigned answer, and never after a forged one', async () => {
      const { space, start } = machine()
      await call(await start(), 'license', 'KEY')
      for (const behaviour of [
        plain(302, '', { location: '/portal' }),
        plain(200, '{"success":true,"data":{}}'),
        plain(403, '{"success":false,"code":"userBanned","message":"No"}'),
        plain(401, '{"success":false,"code":"sessionUnauthed","message":"No"}'),
        plain(403, 'error code: 1010', { 'content-type': 'text/plain' }),
        plain(408),
        plain(418, 'x'.repeat(300_000)),
      ]) {
        space.on('init', behaviour)
        expect(await call(await start(), 'session')).toMatchObject({
          result: { ok: true, offline: { inGrace: false } },
        })
        expect(await call(await start(), 'login', { username: 'ada', password: 'secret1' })).toMatchObject({
          error: { kind: 'network' },
        })
      }
      for (const [code, behaviour] of [
        ['unknown_key', (seen) => signed(seen, 200, {}, { key: otherKey })],
        ['body_too_large', (seen) => signed(seen, 503, 'x'.repeat(300_000))],
        ['malformed_signature', plain(403, '', { signature: 'keyward=:AA' })],
      ] as [string, ReturnType<typeof plain>][]) {
        space.on('init', behaviour)
        expect(await call(await start(), 'session')).toMatchObject({ error: { kind: 'signature', code } })
      }
      space.on('init', (seen) => signed(seen, 200, { success: true, data: {} }))
      expect(await call(await start(), 'session')).toMatchObject({ error: { code: 'unexpected_answer' } })
    })

    it('a storage file that is damaged, or edited by hand, gives nothing', async () => {
      const { start, startOffline, path, kept } = machine()
      await call(await start(), 'license', 'KEY')
      const good = kept()
      const forged = { ...good, user: { ...good.user, _id: 'usr_9', features: ['all'] } }
      writeFileSync(path, JSON.stringify(forged))
      const id = await startOffline()
      expect(await call(id, 'session')).toMatchObject({
        result: { ok: true, user: { _id: user._id, features: ['pro'] } },
      })
      expect((await call(id, 'has', 'all')).result).toBe(false)
      for (const text of [
        '',
        'null',
        '[]',
        '{',
        '"x"',
        '\ufeff{}',
        JSON.stringify({ ...good, lease: 1 }),
        JSON.stringify({ ...good, lease: makeLease().slice(0, -1) }),
        JSON.stringify({ ...good, lease: makeFile('KWR1-00000-00000-00000') }),
        JSON.stringify({ ...good, user: null }),
      ]) {
        writeFileSync(path, text)
        expect(await call(await startOffline(), 'session'), text).toMatchObject(problem('no_lease'))
      }
      writeFileSync(path, '{')
      expect(await call(await start(), 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      expect(kept()).toMatchObject({ lease: makeLease() })
    })

    it('members of newer versions stay in the storage file', async () => {
      const { start, path, kept } = machine()
      writeFileSync(path, JSON.stringify({ lease: '', latest: 5, future: { a: [1, 'ü'] } }))
      const id = await start()
      await call(id, 'license', 'KEY')
      expect(kept()).toMatchObject({ future: { a: [1, 'ü'] }, lease: makeLease() })
      await call(id, 'logout')
      expect(kept()).toMatchObject({ future: { a: [1, 'ü'] }, lease: '' })
    })

    it("the file in the user's data folder is readable by the user alone", async () => {
      const { start } = machine()
      const id = await start({ storage: 'user-data' })
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      const folder = join(adapter().folder, 'keyward')
      expect(readdirSync(folder)).toEqual([`${appId}.json`])
      const file = join(folder, `${appId}.json`)
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ lease: makeLease() })
      expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700])
      expect(await call(id, 'logout')).toMatchObject({ result: { ok: true } })
    })

    it('a storage that cannot be written does not stop a program that is online', async () => {
      const { start } = machine()
      const folder = join(adapter().folder, 'keyward')
      mkdirSync(join(folder, 'bl0cked1.json'), { recursive: true })
      const id = await start({ storage: 'user-data', appId: 'bl0cked1' })
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true } })
      expect(await call(id, 'offlineRequest', 'KEY')).toMatchObject({
        error: { kind: 'usage', code: 'storage_failed' },
      })
    })

    describe('a remembered sign-in', () => {
      const grantedWith = (deviceToken: string) => succeed({ user, deviceToken })

      it('signs in again after a restart, and its token is never shown', async () => {
        const { space, start, kept } = machine()
        space.on('license', grantedWith('token-1'))
        space.on('resume', grantedWith('token-2'), grantedWith('token-3'))
        const signedIn = await call(await start(), 'license', 'KEY')
        expect(JSON.stringify(signedIn)).not.toContain('token-1')
        expect(space.requests('license')[0]!.body).toMatchObject({ remember: true })
        for (const [token, next] of [
          ['token-1', 'token-2'],
          ['token-2', 'token-3'],
        ]) {
          const resumed = await call(await start(), 'session')
          expect(resumed).toMatchObject({ result: { ok: true, user } })
          expect(JSON.stringify(resumed)).not.toContain('token-')
          expect(space.requests('resume').at(-1)!.body).toMatchObject({ deviceToken: token, hwid })
          expect(kept().deviceToken).toBe(next)
        }
      })

      it('signs in once for concurrent calls', async () => {
        const { space, start } = machine()
        space.on('license', grantedWith('token-1'))
        await call(await start(), 'license', 'KEY')
        space.on('resume', grantedWith('token-2'), grantedWith('token-3'))
        const id = await start()
        const results = await adapter().together(Array.from({ length: 8 }, () => ({ id, method: 'session' })))
        for (const each of results) expect(each).toMatchObject({ result: { ok: true, user } })
        expect(space.requests('resume')).toHaveLength(1)
        expect(space.requests('init')).toHaveLength(2)
      })

      it('forgets a token that the server refuses, and keeps it through a ban', async () => {
        const { space, start, kept } = machine()
        space.on('license', grantedWith('token-1'))
        await call(await start(), 'license', 'KEY')
        space.on('resume', refuse(403, 'userBanned'))
        expect(await call(await start(), 'session')).toMatchObject({
          result: { ok: false, code: 'userBanned' },
        })
        expect(kept().deviceToken).toBe('token-1')
        space.on('session', refuse(401, 'sessionUnauthed'))
        space.on('resume', refuse(401, 'sessionUnauthed'))
        expect(await call(await start(), 'session')).toMatchObject({
          result: { ok: false, code: 'sessionUnauthed' },
        })
        expect(kept().deviceToken ?? null).toBeNull()
      })

      it('ends with a sign-out', async () => {
        const { space, start, path } = machine()
        space.on('license', grantedWith('token-1'))
        const id = await start()
        await call(id, 'license', 'KEY')
        await call(id, 'logout')
        expect(readFileSync(path, 'utf8')).not.toContain('token-1')
      })
    })
  })
}
