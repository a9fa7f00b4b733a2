import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'
import { type StandIn, startStandIn } from '../stand-in.ts'
import { vectors } from './vectors.ts'

const { cases } = vectors('key-sets.json')
const { cases: answers } = vectors('answers.json')
const { request, response } = answers[0]!

/** Which `publicKeys` an SDK accepts, and which keys it names to the server. */
export function keySets(adapter: () => Adapter): void {
  describe('publicKeys', () => {
    let server: StandIn
    beforeAll(async () => {
      server = await startStandIn()
    })
    afterAll(() => server.close())

    it('are accepted or not as every vector says', () =>
      everyRow(
        cases.map((each) => [each.name, each] as const),
        async (_, { publicKeys, ...expected }) => {
          const space = server.space()
          const options = {
            baseUrl: space.baseUrl,
            appId: 'k3yw4rd1',
            secret: 's',
            version: '1',
            hwid: null,
            publicKeys,
          }
          const opened = await adapter().ask({ op: 'new', id: 'keys', options })
          const judged = await adapter().ask({ op: 'judge', keys: publicKeys, request, response })
          if ('error' in expected) {
            const error = { kind: 'usage', code: expected.error }
            expect(opened).toMatchObject({ error })
            expect(judged).toMatchObject({ error })
            return
          }
          expect(opened).toEqual({ ok: true })
          await adapter().call('keys', 'init')
          expect(space.seen[0]!.headers['keyward-keys']).toBe(expected.kids.join(',').trim())
          const isPinned = expected.kids.includes('test-key-ed25519')
          expect(judged.reason).toBe(isPinned ? undefined : 'unknown_key')
        },
      ))
  })
}
