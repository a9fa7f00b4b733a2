import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { hour, issued, makeFile, makeLease, problem, useMachines } from '../machines.ts'
import { signed, succeed, user } from '../stand-in.ts'

const day = 24 * hour
const granted = { result: { ok: true } }

/** What a program believes of the clock of its machine. */
export function clocks(adapter: () => Adapter): void {
  describe('the clock of a machine', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    const set = (id: string, now: number) => adapter().ask({ op: 'now', id, now })
    const elapse = (id: string, seconds: number) => adapter().ask({ op: 'elapse', id, seconds })

    it('does not concern an activation that never ends', async () => {
      const { startOffline, kept } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      await call(id, 'activateOffline', makeFile(request, { exp: null, expiresAt: null, term: 'forever' }))
      for (const now of [issued + 730 * day, issued + hour, issued - 30 * 365 * day, issued + hour]) {
        expect(await call(await startOffline(now), 'session')).toMatchObject(granted)
        await set(id, now)
        expect(await call(id, 'session')).toMatchObject(granted)
      }
      expect(kept().latest).toBe(issued)
      const { result: next } = await call(id, 'offlineRequest', 'OTHER')
      await set(id, issued - 30 * 365 * day)
      const file = makeFile(next, { exp: null, expiresAt: null, term: 'forever' })
      expect(await call(id, 'activateOffline', file)).toMatchObject(granted)
    })

    it('is believed again after a file of the vendor, which is newer', async () => {
      const { startOffline, kept } = machine()
      const id = await startOffline()
      const { result: request } = await call(id, 'offlineRequest', 'KEY')
      await call(id, 'activateOffline', makeFile(request))
      expect(await call(await startOffline(issued + 300 * day), 'session')).toMatchObject(granted)
      const corrected = await startOffline(issued + 2 * hour)
      expect(await call(corrected, 'session')).toMatchObject(problem('clock_set_back'))
      const { result: next } = await call(corrected, 'offlineRequest', 'KEY')
      const rejected = { error: { kind: 'usage', code: 'activation_rejected' } }
      const later = makeFile(next, { iat: issued + 17 * hour })
      expect(await call(corrected, 'activateOffline', later)).toMatchObject(rejected)
      const newer = makeFile(next, { iat: issued + hour })
      expect(await call(corrected, 'activateOffline', newer)).toMatchObject(granted)
      expect(kept().latest).toBe(issued + hour)
      expect(await call(corrected, 'session')).toMatchObject(granted)
      expect(await call(await startOffline(issued + 2 * hour), 'session')).toMatchObject(granted)
    })

    it.each([
      ['hours', 71 * hour, 300],
      ['days', 72 * hour, 14 * hour],
    ])('cannot stand still while a program runs with a lease of %s', async (_, length, tolerance) => {
      const { space, start, startOffline } = machine()
      space.on('lease', succeed({ lease: makeLease({ graceUntil: issued + length }) }))
      await call(await start(), 'license', 'KEY')
      const id = await startOffline(issued + hour)
      expect(await call(id, 'session')).toMatchObject(granted)
      await elapse(id, tolerance - 60)
      expect(await call(id, 'session')).toMatchObject(granted)
      await elapse(id, 120)
      expect(await call(id, 'session')).toMatchObject(problem('clock_set_back'))
      await set(id, issued + hour + tolerance + 60)
      expect(await call(id, 'session')).toMatchObject(granted)
    })

    it('that lags by a time zone holds up no time, within a start and between two starts', async () => {
      const { start, startOffline, kept } = machine()
      await call(await start(), 'license', 'KEY')
      const seen = issued + 100 * hour
      expect(await call(await startOffline(seen), 'session')).toMatchObject(granted)
      const id = await startOffline(seen - 13 * hour)
      expect(await call(id, 'session')).toMatchObject(granted)
      await elapse(id, hour - 60)
      expect(await call(id, 'session')).toMatchObject(granted)
      expect(kept().latest).toBeGreaterThanOrEqual(seen + hour - 60)
      await elapse(id, 120)
      expect(await call(id, 'session')).toMatchObject(problem('clock_set_back'))
      expect(await call(await startOffline(seen - 13 * hour - 120), 'session')).toMatchObject(
        problem('clock_set_back'),
      )
      await set(id, seen + 140 * hour)
      expect(await call(id, 'session')).toMatchObject(problem('lease_ended'))
    })

    it.skipIf(process.platform !== 'linux')(
      'cannot stand still between two starts of a program',
      async () => {
        const { space: first, start, startOffline, path, kept } = machine()
        first.on('lease', succeed({ lease: makeLease({ graceUntil: issued + 71 * hour }) }))
        await call(await start(), 'license', 'KEY')
        const now = issued + hour
        expect(await call(await startOffline(now), 'session')).toMatchObject(granted)
        const { boot } = kept()
        const [uptime] = readFileSync('/proc/uptime', 'utf8').split(' ')
        expect(boot.id.split('/')[0]).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
        expect(Math.abs(boot.startedAt + Number(uptime) - now)).toBeLessThan(60)
        const notePassed = (seconds: number, id = boot.id) => {
          const startedAt = boot.startedAt + seconds
          writeFileSync(path, JSON.stringify({ ...kept(), boot: { id, startedAt } }))
        }
        notePassed(600)
        expect(await call(await startOffline(now), 'session')).toMatchObject(problem('clock_set_back'))
        expect(await call(await startOffline(now + 600), 'session')).toMatchObject(granted)
        notePassed(5 * hour)
        const answered = (created: number) => {
          return (seen: Parameters<typeof signed>[0]) =>
            signed(seen, 200, { success: true, data: { user } }, { created })
        }
        const { space, start: startThere } = machine()
        space.on('session', answered(now + 600))
        expect(await call(await startOffline(now + 600), 'session')).toMatchObject(problem('clock_set_back'))
        const online = await startThere({ storage: { file: path } }, now + 600)
        expect(await call(online, 'session')).toMatchObject(granted)
        expect(await call(await startOffline(now + 600), 'session')).toMatchObject(granted)
        notePassed(50 * hour, 'another run of the system')
        expect(await call(await startOffline(now + 600), 'session')).toMatchObject(granted)
        expect(kept().boot.id).toBe(boot.id)
        for (const damaged of [
          null,
          1,
          {},
          { id: boot.id },
          { id: 1, startedAt: 9e12 },
          { startedAt: 9e12 },
        ]) {
          writeFileSync(path, JSON.stringify({ ...kept(), boot: damaged }))
          expect(await call(await startOffline(now + 600), 'session')).toMatchObject(granted)
        }
      },
    )

    it('that is ahead at a sign-in does not lock the program out', async () => {
      const { start, startOffline } = machine()
      await call(await start({}, issued + 730 * day), 'license', 'KEY')
      expect(await call(await startOffline(issued + hour), 'session')).toMatchObject(granted)
    })

    it('helps no lease that is older than one that the program has seen', async () => {
      const { start, startOffline, path, kept } = machine()
      await call(await start(), 'license', 'KEY')
      const id = await startOffline()
      expect(await call(id, 'session')).toMatchObject(granted)
      const restored = { ...kept(), lease: makeLease({ seq: 6 }) }
      writeFileSync(path, JSON.stringify(restored))
      expect(await call(id, 'session')).toMatchObject(problem('no_lease'))
      expect(await call(await startOffline(), 'session')).toMatchObject(granted)
      writeFileSync(path, JSON.stringify({ ...restored, lease: makeLease({ seq: 8 }) }))
      expect(await call(id, 'session')).toMatchObject(granted)
    })
  })
}
