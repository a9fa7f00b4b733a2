import { describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { keys, cases } = vectors('leases.json')

/** Which leases and activation files an SDK accepts, at which time. */
export function leases(adapter: () => Adapter, type: 'lease' | 'activation'): void {
  describe(`of the type ${type}`, () => {
    it('is accepted or not as every vector says', () =>
      everyRow(
        cases.filter((each) => each.type === type).map((each) => [each.name, each] as const),
        async (_, { name: __, accepted, problem, ...facts }) => {
          const answer = await adapter().ask({ op: 'lease', keys, ...facts })
          expect(answer).toEqual({ accepted, ...(problem && { problem }) })
        },
      ))
  })
}
