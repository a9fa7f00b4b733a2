import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import type { Adapter } from '../adapter.ts'

interface SignatureCase {
  name: string
  publicKey: string
  message: string
  signature: string
  valid: boolean
}

const file = new URL('../../vectors/ed25519.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: SignatureCase[] }

/** Which Ed25519 signatures an SDK accepts. */
export function signatures(adapter: () => Adapter): void {
  describe('a signature', () => {
    it('is valid or not as every vector says', () =>
      everyRow(
        cases.map((each) => [each.name, each] as const),
        async (_, { publicKey, message, signature, valid }) => {
          const request = { op: 'ed25519', publicKey, message, signature }
          expect(await adapter().ask(request)).toEqual({ valid })
        },
      ))
  })
}
