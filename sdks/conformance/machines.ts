import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { testKey } from '../../packages/sdk/test/signer.ts'
import { activationClaims, activationHeader, leaseClaims, leaseHeader, toJws } from '../vectors/leases.ts'
import type { Adapter } from './adapter.ts'
import { plain, type Space, type StandIn, startStandIn, succeed, user } from './stand-in.ts'
import { vectors } from './suites/vectors.ts'

export const hour = 3600
export const issued = leaseClaims.iat
export const { hwid } = vectors('leases.json').cases[0]!
export const appId = leaseClaims.aud
export const makeLease = (claims: object = {}, header: object = {}, key = testKey) =>
  toJws({ ...leaseHeader, ...header }, { ...leaseClaims, sub: user._id, ...claims }, key)
export const makeFile = (request: string, claims: object = {}, header: object = {}) =>
  toJws({ ...activationHeader, ...header }, { ...activationClaims, nonce: nonceOf(request), ...claims })

const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The nonce of a request: the eight bytes after the first one, in hex. */
export function nonceOf(request: string): string {
  const text = request.slice('KWR1-'.length).replaceAll('-', '')
  const bits = [...text].map((symbol) => symbols.indexOf(symbol).toString(2).padStart(5, '0')).join('')
  const bytes = bits.match(/.{8}/g)!.slice(1, 9)
  return bytes.map((byte) => Number.parseInt(byte, 2).toString(16).padStart(2, '0')).join('')
}

/** The error of a program that is not helped by what its machine stores. */
export const problem = (offline: string) => ({ error: { kind: 'network', code: 'wrong_address', offline } })

/** Machines on which programs start, with a server that signs. */
export function useMachines(adapter: () => Adapter) {
  let server: StandIn
  let elsewhere: string
  beforeAll(async () => {
    server = await startStandIn()
    const space = server.space()
    elsewhere = space.baseUrl
    for (const name of ['init', 'logout']) space.on(name, plain(404))
  })
  afterAll(() => server.close())

  /** A machine with a storage file, on which programs start. */
  return function machine() {
    const space: Space = server.space()
    for (const name of ['license', 'login', 'session', 'register']) space.on(name, succeed({ user }))
    space.on('lease', succeed({ lease: makeLease() }))
    space.on('logout', succeed({}))
    const path = join(adapter().folder, `${randomUUID()}.json`)
    const start = async (options: object = {}, now = issued + hour) => {
      const id = randomUUID()
      const { baseUrl } = space
      await adapter().open(
        id,
        {
          baseUrl,
          publicKeys: server.publicKeys,
          appId,
          secret: 's',
          version: '1.2.0',
          hwid,
          timeoutMs: 10_000,
          storage: { file: path },
          ...options,
        },
        now,
      )
      return id
    }
    return {
      space,
      path,
      start,
      /** A program that does not reach its server, and does not try again, because another site answers. */
      startOffline: (now?: number, options: object = {}) => start({ baseUrl: elsewhere, ...options }, now),
      kept: () => JSON.parse(readFileSync(path, 'utf8')),
    }
  }
}
