import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { cases } = vectors('requests.json')

/** How an SDK writes the request of an activation. */
export function requests(adapter: () => Adapter): void {
  describe('the request of an activation', () => {
    it.each(cases)('$name', async ({ name: _, request, ...facts }) => {
      expect(await adapter().ask({ op: 'encodeRequest', ...facts })).toEqual({ request })
    })
  })
}
