import { describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { cases, sources, parts, placeholders } = vectors('hwids.json')

/** The default hardware id and the hashes of a machine's parts. */
export function hwids(adapter: () => Adapter): void {
  describe('the hardware id', () => {
    it('is that of every vector', () =>
      everyRow(
        cases.map((each) => [each.name, each] as const),
        async (_, { appId, machine, hwid }) => {
          expect(await adapter().ask({ op: 'hwid', appId, machine })).toEqual({ hwid })
        },
      ))

    it('comes from its sources as every vector says', () =>
      everyRow(
        sources.map((each) => [each.name, each] as const),
        async (_, { name: __, hwid, error, ...machine }) => {
          const answer = await adapter().ask({ op: 'hwidSources', ...machine })
          if (error) expect(answer).toMatchObject({ error: { kind: 'usage', code: error } })
          else expect(answer).toEqual({ hwid })
        },
      ))

    it('has the parts of every vector, as typed in another way, too', () =>
      everyRow(
        parts.map((each) => [each.name, each] as const),
        async (_, { appId, part, value, hash }) => {
          expect(await adapter().ask({ op: 'part', appId, part, value })).toEqual({ hash })
          const typed = ` ${value.toUpperCase()}\n`
          expect(await adapter().ask({ op: 'part', appId, part, value: typed })).toEqual({ hash })
        },
      ))

    it('has no part that is a placeholder', async () => {
      const appId = 'k3yw4rd1'
      for (const value of placeholders) {
        expect(await adapter().ask({ op: 'part', appId, part: 'disk', value }), value).toEqual({ hash: null })
      }
    })
  })
}
