import { describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { vectors } from './vectors.ts'

const { cases, sources, parts, placeholders } = vectors('hwids.json')

/** The default hardware id and the hashes of a machine's parts. */
export function hwids(adapter: () => Adapter): void {
  describe('the hardware id', () => {
    it.each(cases)('of $name', async ({ appId, machine, hwid }) => {
      expect(await adapter().ask({ op: 'hwid', appId, machine })).toEqual({ hwid })
    })

    it.each(sources)('from its sources: $name', async ({ name: _, hwid, error, ...machine }) => {
      const answer = await adapter().ask({ op: 'hwidSources', ...machine })
      if (error) expect(answer).toMatchObject({ error: { kind: 'usage', code: error } })
      else expect(answer).toEqual({ hwid })
    })

    it.each(parts)('has a part: $name', async ({ appId, part, value, hash }) => {
      expect(await adapter().ask({ op: 'part', appId, part, value })).toEqual({ hash })
      const typed = ` ${value.toUpperCase()}\n`
      expect(await adapter().ask({ op: 'part', appId, part, value: typed })).toEqual({ hash })
    })

    it('has no part that is a placeholder', async () => {
      const appId = 'k3yw4rd1'
      for (const value of placeholders) {
        expect(await adapter().ask({ op: 'part', appId, part: 'disk', value }), value).toEqual({ hash: null })
      }
    })
  })
}
