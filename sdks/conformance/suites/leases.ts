import { describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'
import { isCurrent, type LanguageName } from '../languages.ts'
import { vectors } from './vectors.ts'

const { keys, cases } = vectors('leases.json')

const ofNewer = [
  'an activation with a clock that was ahead',
  'an activation that never ends with a clock before its issue',
]

/** Which leases and activation files an SDK accepts, at which time. */
export function leases(adapter: () => Adapter, type: 'lease' | 'activation', language: LanguageName): void {
  describe(`of the type ${type}`, () => {
    const held = cases.filter(({ name }) => isCurrent(language) || !ofNewer.includes(name))
    it('is accepted or not as every vector says', () =>
      everyRow(
        held.filter((each) => each.type === type).map((each) => [each.name, each] as const),
        async (_, { name: __, accepted, problem, ...facts }) => {
          const answer = await adapter().ask({ op: 'lease', keys, ...facts })
          expect(answer).toEqual({ accepted, ...(problem && { problem }) })
        },
      ))
  })
}
