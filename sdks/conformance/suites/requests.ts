import { describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { cases } = vectors('requests.json')

/** How an SDK writes the request of an activation. */
export function requests(adapter: () => Adapter): void {
  describe('the request of an activation', () => {
    it('is that of every vector', () =>
      everyRow(
        cases.map((each) => [each.name, each] as const),
        async (_, { name: __, request, ...facts }) => {
          expect(await adapter().ask({ op: 'encodeRequest', ...facts })).toEqual({ request })
        },
      ))
  })
}
