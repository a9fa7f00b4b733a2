import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { otherKey, testKey, toPublic } from '../../../packages/sdk/test/signer.ts'
import { type LiveServer, startServer, type Vendor } from '../../../sdks/conformance/server.ts'
import {
  activationClaims,
  activationHeader,
  leaseClaims,
  leaseHeader,
  leases,
  toJws,
} from '../../../sdks/vectors/leases.ts'
// @ts-expect-error the example is JavaScript
import { readKeys, readLease } from '../src/lease.mjs'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

describe('the lease that the vendor reads', () => {
  const { aud: appId, iat, exp } = leaseClaims
  const keys = readKeys([toPublic(testKey)])
  const read = (lease: unknown, facts: object = {}) => readLease(lease, { appId, keys, now: iat, ...facts })
  const lease = toJws(leaseHeader, leaseClaims)

  it('has the claims that Keyward has signed', () => {
    expect(read(lease)).toEqual(leaseClaims)
    expect(read(lease, { now: exp - 1 })).toEqual(leaseClaims)
  })

  it('includes a feature that ends before it until then', () => {
    const ends = iat + 60
    const until = toJws(leaseHeader, { ...leaseClaims, featuresUntil: { details: ends } })
    expect(read(until, { now: ends - 1 }).features).toEqual(['pro', 'details'])
    expect(read(until, { now: ends }).features).toEqual(['pro'])
  })

  // The vendor does not know the device; unused bits of the last symbol change neither signature nor claims.
  const elsewhere =
    /device|hwid|hardware id|trailing bits|refreshAfter|graceUntil|seq|10000|negative|fraction/
  const unusable = leases.filter(
    ({ type, name, problem }) => type === 'lease' && problem === 'no_lease' && !elsewhere.test(name),
  )
  it.each(unusable.map((each) => [each.name, each] as const))('is not %s', (_, each) => {
    expect(read(each.lease, { appId: each.appId, now: each.now })).toBeUndefined()
  })

  it('is none after its end, in its grace, before its time or of a revoked key', () => {
    expect(read(lease, { now: exp })).toBeUndefined()
    expect(read(lease, { now: iat - 301 })).toBeUndefined()
    expect(read(lease, { keys: readKeys([{ ...toPublic(testKey), status: 'revoked' }]) })).toBeUndefined()
    expect(read(lease, { keys: readKeys([{ ...toPublic(testKey), use: 'enc' }]) })).toBeUndefined()
    expect(read(undefined)).toBeUndefined()
    expect(read(toJws(activationHeader, activationClaims))).toBeUndefined()
    expect(read(toJws(leaseHeader, leaseClaims, otherKey))).toBeUndefined()
  })
})

describe('the server of the vendor', () => {
  let keyward: LiveServer
  let vendor: Vendor
  let folder: string
  let address: string
  let stop: () => void

  beforeAll(async () => {
    keyward = await startServer()
  })
  afterAll(() => keyward.close())

  beforeEach(async () => {
    vendor = await keyward.vendor()
    folder = await mkdtemp(join(tmpdir(), 'backend-'))
    const { appId, appSecret: secret } = vendor.app
    const config = { baseUrl: keyward.baseUrl, appId, secret, publicKeys: vendor.keys, hwid: 'machine-1' }
    await writeFile(join(folder, 'keyward.json'), JSON.stringify(config))
    await writeFile(join(folder, 'text.txt'), 'A short sentence. Another extraordinarily readable sentence.')
    const server = spawn(process.execPath, [at('../src/server.mjs')], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0', PER_MINUTE: '3' },
    })
    stop = () => server.kill()
    const [line] = await once(server.stdout, 'data')
    address = /http:\S+/.exec(String(line))![0]
  })
  afterEach(async () => {
    stop()
    await rm(folder, { recursive: true })
  })

  const client = (key: string) =>
    new Promise<{ ok: boolean; output: string }>((resolve) => {
      const env = { PATH: process.env.PATH, SERVICE_URL: address }
      const args = [at('../src/client.mjs'), key, 'text.txt']
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
        resolve({ ok: error === null, output: stdout + stderr }),
      )
    })
  const post = (headers: Record<string, string>, body = 'text') =>
    fetch(address, { method: 'POST', headers, body })

  it('works for a program with a license, and does what the license includes', async () => {
    const { key } = await vendor.issueKey()
    const plain = await client(key)
    expect(plain).toMatchObject({ ok: true, output: expect.stringContaining("verdict: 'Easy to read.'") })
    expect(plain.output).not.toContain('longWords')
    const license = await vendor.sell({ name: 'Pro', features: ['details'], devices: 3 })
    expect((await client(license.key)).output).toContain('extraordinarily')
  })

  it('does nothing for a program without one', async () => {
    expect(await client('NO-SUCH-KEY')).toMatchObject({ ok: false, output: 'License key not found\n' })
    for (const headers of [
      {},
      { authorization: 'Bearer' },
      { authorization: `Bearer ${toJws(leaseHeader, leaseClaims)}` },
    ]) {
      expect((await post(headers as Record<string, string>)).status).toBe(401)
    }
  })

  it('works for one end user only so often, and only on texts of a bounded length', async () => {
    const { key } = await vendor.issueKey()
    for (let at = 0; at < 3; at++) expect(await client(key)).toMatchObject({ ok: true })
    expect(await client(key)).toMatchObject({ ok: false, output: expect.stringContaining('too_many') })
    const { key: other } = await vendor.sell({ name: 'Team', devices: 3 })
    await writeFile(join(folder, 'text.txt'), 'x'.repeat(100_001))
    expect(await client(other)).toMatchObject({ ok: false, output: expect.stringContaining('too_long') })
  })
})
