import { describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { keys, cases } = vectors('answers.json')

/** Which answers an SDK accepts, and how it reports the others. */
export function answers(adapter: () => Adapter): void {
  describe('answers', () => {
    it('are judged as every vector says', () =>
      everyRow(
        cases.map((each) => [each.name, each] as const),
        async (_, { request, response, expect: expected }) => {
          const { signatureBase, ...judged } = await adapter().ask({ op: 'judge', keys, request, response })
          const { signatureBase: wanted, ...outcome } = { signatureBase: undefined, ...expected }
          expect(judged).toEqual(outcome)
          if (wanted !== undefined) expect(signatureBase).toBe(wanted)
        },
      ))
  })
}
