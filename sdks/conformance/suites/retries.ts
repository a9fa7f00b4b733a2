import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyRow } from '../../../apps/server/test/every-row.ts'
import { otherKey, testKey } from '../../../packages/sdk/test/signer.ts'
import type { Behaviour as Described } from '../../vectors/retries.ts'
import type { Adapter, Answer } from '../adapter.ts'
import { type Behaviour, type Space, type StandIn, signed, startStandIn, unusedAddress } from '../stand-in.ts'
import { vectors } from './vectors.ts'

const { cases } = vectors('retries.json')

const asText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body ?? ''))

export function toBehaviour(described: Described): Behaviour {
  return (seen, response) => {
    if (!('status' in described)) {
      if (described.does === 'close') response.destroy()
      if (described.does === 'halve') {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{"success":', () => response.destroy())
      }
      return undefined
    }
    const { does, status, body, retryAtS } = described
    const at: Record<string, string> = retryAtS === undefined ? {} : { 'retry-after': inSeconds(retryAtS) }
    const headers = { ...described.headers, ...at }
    if (does === 'send') return { status, body: asText(body), headers }
    const how = does === 'forge' ? { key: otherKey, keyid: testKey.kid } : {}
    const prepared = signed(seen, status, body, how)
    return { ...prepared, headers: { ...prepared.headers, ...headers } }
  }
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()

/** How often an SDK sends a call, and how the call ends. All cases run at the same time, because most of them wait. */
export function retries(adapter: () => Adapter): void {
  describe('retries', () => {
    let server: StandIn
    const spaces = new Map<string, Space>()
    let answers: Answer[]

    beforeAll(async () => {
      server = await startStandIn()
      const unreachable = await unusedAddress()
      for (const each of cases) {
        const { name, server: script, timeoutMs = 20_000 } = each
        const space = server.space()
        spaces.set(name, space)
        if (script !== 'unreachable') space.on(toPath(each), ...script.map(toBehaviour))
        await adapter().open(name, {
          baseUrl: script === 'unreachable' ? unreachable : space.baseUrl,
          publicKeys: server.publicKeys,
          appId: 'k3yw4rd1',
          secret: 'secret',
          version: '1.0.0',
          hwid: 'machine-1',
          ...(timeoutMs === 'default' ? {} : { timeoutMs }),
        })
      }
      // A slow machine must not spend the short time of a call on its session.
      const hurried = cases.filter(({ timeoutMs }) => timeoutMs !== undefined)
      await adapter().together(hurried.map(({ name }) => ({ id: name, method: 'init' })))
      answers = await adapter().together(cases.map(({ name, method, args }) => ({ id: name, method, args })))
    })
    afterAll(() => server.close())

    it('happen as often as every vector says, and end as it says', () =>
      everyRow(
        cases.map((each, at) => [each.name, each, at] as const),
        (name, each, at) => {
          const { requests: count, inits = 1, leastMs = 0, result, error } = each.expect
          const space = spaces.get(name)!
          const requests = space.requests(toPath(each))
          if (result) expect(answers[at]).toMatchObject({ result })
          if (error) expect(answers[at]).toMatchObject({ error })
          expect(requests).toHaveLength(count)
          expect(space.requests('init')).toHaveLength(inits)
          expect(new Set(space.seen.map(({ headers }) => headers['keyward-nonce'])).size).toBe(
            space.seen.length,
          )
          if (leastMs > 0) expect(requests.at(-1)!.at - requests[0]!.at).toBeGreaterThanOrEqual(leastMs)
        },
      ))
  })
}

const toPath = ({ method, args }: { method: string; args: unknown[] }) =>
  method === 'freeDevice' ? `devices/${args[0]}` : method
