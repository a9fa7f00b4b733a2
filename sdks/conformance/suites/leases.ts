import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { keys, cases } = vectors('leases.json')

/** Which leases and activation files an SDK accepts, at which time. */
export function leases(adapter: () => Adapter, type: 'lease' | 'activation'): void {
  describe(`of the type ${type}`, () => {
    it.each(cases.filter((each) => each.type === type).map((each) => [each.name, each] as const))(
      '%s',
      async (_, { name: __, accepted, problem, ...facts }) => {
        const answer = await adapter().ask({ op: 'lease', keys, ...facts })
        expect(answer).toEqual({ accepted, ...(problem && { problem }) })
      },
    )
  })
}
