import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { makeLease, useMachines } from '../machines.ts'
import { plain, succeed, user } from '../stand-in.ts'

/** Which values `variable` returns while the server is away. */
export function variables(adapter: () => Adapter): void {
  describe('a variable without the server', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    const variable = async (id: string, name: string) => (await call(id, 'variable', name)).result ?? null

    function withOffline() {
      const prepared = machine()
      const marked = { endpoint: 'of the lease', token: 'of the lease', number: 1, list: ['x'] }
      prepared.space.on('lease', succeed({ lease: makeLease({ variables: marked }) }))
      return prepared
    }

    it('has the value that the lease holds, after a start', async () => {
      const { start, startOffline } = withOffline()
      await call(await start(), 'license', 'KEY')
      const id = await startOffline()
      const { result } = await call(id, 'session')
      expect(result.user.variables).toEqual({ endpoint: 'of the lease', token: 'of the lease' })
      expect(await variable(id, 'endpoint')).toBe('of the lease')
      for (const name of ['number', 'list', 'other', 'toString']) expect(await variable(id, name)).toBeNull()
    })

    it('keeps the value of the last answer while the program runs', async () => {
      const { space, start } = withOffline()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', plain(404))
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true, offline: { inGrace: false } } })
      expect(await variable(id, 'token')).toBe(user.variables.token)
      expect(await variable(id, 'endpoint')).toBe('of the lease')
    })

    it('has no value after a sign-out', async () => {
      const { space, start } = withOffline()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', plain(404))
      await call(id, 'session')
      await call(id, 'logout')
      for (const name of ['token', 'endpoint']) expect(await variable(id, name)).toBeNull()
    })
  })
}
