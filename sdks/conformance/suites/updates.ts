import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Adapter } from '../adapter.ts'
import { useMachines } from '../machines.ts'
import { refuse, signed, succeed, user } from '../stand-in.ts'

const links = {
  buy: 'https://shop.example/buy',
  renew: 'https://shop.example/renew?reference=kwr_1',
  upgrades: [{ name: 'Team', url: 'https://shop.example/team' }],
}
const advisory = { version: '1.2.1', severity: 'high', summary: 'Größe & 💡', url: null }
const release = { version: '1.1.0', url: 'https://shop.example/1.1.0' }
const machineKind = { platform: 'linux', architecture: 'x64' }
const security = {
  severity: 'high',
  affects: [{ from: null, before: '1.2.1' }],
  summary: 'A hole',
  advisory: 'https://shop.example/hole',
}
const file = randomBytes(300_000)
const digest = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex')
const artifact = {
  ...machineKind,
  kind: 'full',
  name: 'tally-1.3.0.bin',
  url: '',
  size: file.length,
  sha512: digest('sha512', file),
  sha256: digest('sha256', file),
  signature: 'of-the-vendor',
}
const update = {
  version: '1.3.0',
  releasedAt: '2026-01-01T00:00:00.000Z',
  notes: '# New\n- faster',
  url: 'https://shop.example/1.3.0',
  artifact,
  security,
}
const beyond = { version: '2.0.0', links }

/** Links and advisories, and what a program may update to and how it gets that. */
export function updates(adapter: () => Adapter): void {
  describe('an update', () => {
    const machine = useMachines(adapter)
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    let server: Server
    let origin: string
    let folder: string
    /** What the server of the files was asked for. */
    let asked: { url: string; range: string | undefined; authorization: string | undefined }[] = []
    let answer: (response: ServerResponse, from: number, request: IncomingMessage) => void
    beforeAll(async () => {
      server = createServer((request, response) => {
        const { url = '', headers } = request
        asked.push({ url, range: headers.range, authorization: headers.authorization })
        answer(response, Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0), request)
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    afterAll(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    })
    beforeEach(() => {
      asked = []
      answer = whole
      folder = join(adapter().folder, randomUUID())
    })

    /** A server that goes on where it is asked to. */
    const whole = (response: ServerResponse, from: number) => {
      const range = { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }
      response.writeHead(from > 0 ? 206 : 200, {
        'content-length': file.length - from,
        ...(from > 0 && range),
      })
      response.end(file.subarray(from))
    }
    const offered = (change: object = {}) => ({
      ...update,
      artifact: { ...artifact, url: `${origin}/files/tally?key=a%20b`, ...change },
    })
    const download = async (change: object = {}) => {
      const id = await machine().start()
      return call(id, 'downloadUpdate', offered(change), folder)
    }
    const target = () => join(folder, artifact.name)
    const part = () => `${target()}.${artifact.sha512.slice(0, 16)}.part`
    const done = () => ({ result: target() })
    const isWhole = () => {
      expect(readdirSync(folder)).toEqual([artifact.name])
      expect(readFileSync(target()).equals(file)).toBe(true)
    }
    const begin = (bytes: Buffer) => {
      mkdirSync(folder, { recursive: true })
      writeFileSync(part(), bytes)
    }

    it('links, advisories and the version that a license may use are shown as they are sent', async () => {
      const { space, start } = machine()
      const id = await start()
      space.on(
        'init',
        succeed({ session: 's', app: { name: 'Tally', version: '1.3.0' }, variables: {}, advisory }),
      )
      expect(await call(id, 'init')).toMatchObject({ result: { ok: true, advisory } })
      space.on('license', succeed({ user: { ...user, links } }))
      expect(await call(id, 'license', 'KEY')).toMatchObject({ result: { ok: true, user: { links } } })
      space.on('session', succeed({ user, advisory }))
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true, advisory } })
      space.on('session', succeed({ user, advisory: null }))
      expect(await call(id, 'session')).toMatchObject({ result: { ok: true } })
      const details = { expiresAt: null, links: { ...links, renew: null }, release, advisory }
      space.on('license', (seen) =>
        signed(seen, 403, { success: false, code: 'versionTooOld', message: 'Too old', details }),
      )
      expect(await call(id, 'license', 'KEY')).toMatchObject({
        result: { ok: false, code: 'versionTooOld', details },
      })
    })

    it('versionTooOld leaves the lease', async () => {
      const { space, start, kept } = machine()
      const id = await start()
      await call(id, 'license', 'KEY')
      space.on('session', refuse(403, 'versionTooOld'))
      expect(await call(id, 'session')).toMatchObject({ result: { ok: false, code: 'versionTooOld' } })
      expect(kept().lease).toBeDefined()
    })

    it('is found for this machine, for a signed-in user or by a key', async () => {
      const { space, start } = machine()
      const id = await start()
      space.on('updates', succeed({ update, beyond }), succeed({ update: null, beyond: null }))
      await call(id, 'license', 'KEY')
      expect(await call(id, 'checkForUpdate', { ...machineKind, channel: 'beta' })).toMatchObject({
        result: { ok: true, update, beyond },
      })
      const { result } = await call(id, 'checkForUpdate', { licenseKey: ' KEY\n' })
      expect(result).toMatchObject({ ok: true })
      expect([result.update ?? null, result.beyond ?? null]).toEqual([null, null])
      const [first, second] = space.requests('updates').map(({ body }) => body)
      expect(first).toEqual({ ...machineKind, channel: 'beta' })
      expect(second).toEqual({
        platform: expect.stringMatching(/^(linux|darwin|macos|win32|windows)$/),
        architecture: expect.stringMatching(/^\w+$/),
        licenseKey: 'KEY',
      })
      expect(space.requests('updates')[0]!.headers).toMatchObject({ authorization: 'Bearer session-1' })
      space.on('updates', succeed({ beyond: null }))
      expect(await call(id, 'checkForUpdate', machineKind)).toMatchObject({
        error: { code: 'unexpected_answer' },
      })
    })

    it('is looked for in a new session by a key alone, if the session has ended', async () => {
      const { space, start } = machine()
      const id = await start()
      space.on('updates', refuse(401, 'sessionUnauthed'), succeed({ update: null, beyond: null }))
      expect(await call(id, 'checkForUpdate', machineKind)).toMatchObject({
        result: { ok: false, code: 'sessionUnauthed' },
      })
      space.on('updates', refuse(401, 'sessionUnauthed'), succeed({ update: null, beyond: null }))
      expect(await call(id, 'checkForUpdate', { ...machineKind, licenseKey: 'KEY' })).toMatchObject({
        result: { ok: true },
      })
      expect(space.requests('init')).toHaveLength(2)
    })

    it('is downloaded once, and has its name when it is whole', async () => {
      const id = await machine().start()
      expect(await call(id, 'downloadUpdate', offered(), folder)).toEqual(done())
      isWhole()
      expect(await call(id, 'downloadUpdate', offered(), folder)).toEqual(done())
      expect(asked).toEqual([{ url: '/files/tally?key=a%20b', range: undefined, authorization: undefined }])
    })

    it('that broke off goes on where it stopped', async () => {
      answer = (response) => {
        response.writeHead(200, { 'content-length': file.length })
        response.write(file.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 50))
      }
      expect(await download()).toMatchObject({ error: { kind: 'network', code: 'connection_lost' } })
      expect(existsSync(target())).toBe(false)
      const { length } = readFileSync(part())
      expect(length).toBeGreaterThan(0)
      answer = whole
      expect(await download()).toEqual(done())
      isWhole()
      expect(asked.map(({ range }) => range)).toEqual([undefined, `bytes=${length}-`])
    })

    it('begins anew where the server does not go on, and where what was there is of another file', async () => {
      for (const [bytes, more] of [
        [file.subarray(0, 1000), (response: ServerResponse) => whole(response, 0)],
        [file.subarray(0, 1000), (response: ServerResponse) => response.writeHead(416).end()],
        [
          file.subarray(0, 1000),
          (response: ServerResponse) =>
            response.writeHead(206, { 'content-range': 'bytes 5-9/9' }).end('wrong'),
        ],
        [randomBytes(1000), whole],
        [randomBytes(file.length), whole],
        [randomBytes(file.length + 1), whole],
        [file, whole],
      ] as [Buffer, typeof answer][]) {
        folder = join(adapter().folder, randomUUID())
        begin(bytes)
        answer = (response, from, request) => (from > 0 ? more : whole)(response, from, request)
        expect(await download()).toEqual(done())
        isWhole()
      }
    })

    it('with a wrong digest or size is deleted', async () => {
      const wrong = Buffer.from(file)
      wrong[299_999]! ^= 1
      for (const bytes of [
        wrong,
        file.subarray(0, 200_000),
        Buffer.concat([wrong, randomBytes(900_000)]),
        Buffer.of(),
      ]) {
        answer = (response) => void response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
        expect(await download(), `${bytes.length}`).toMatchObject({
          error: { kind: 'signature', code: 'digest_mismatch', status: 200 },
        })
        expect(readdirSync(folder)).toEqual([])
      }
    })

    it('is looked for where redirects lead, and no longer than five', async () => {
      answer = (response, from, { url }) => {
        if (url === '/files/there') return whole(response, from)
        response.writeHead(302, { location: '/files/there' }).end()
      }
      expect(await download()).toEqual(done())
      folder = join(adapter().folder, randomUUID())
      for (const [status, headers, code] of [
        [302, { location: '/again' }, 'wrong_address'],
        [302, { location: 'http://192.0.2.1/tally' }, 'wrong_address'],
        [302, { location: 'file:///etc/passwd' }, 'wrong_address'],
        [404, {}, 'wrong_address'],
        [503, {}, 'server_error'],
        [429, {}, 'rate_limited'],
      ] as [number, Record<string, string>, string][]) {
        answer = (response) => void response.writeHead(status, headers).end('a page')
        expect(await download(), `${status} ${headers.location}`).toMatchObject({
          error: { kind: 'network', code, status },
        })
      }
      expect(readdirSync(folder)).toEqual([])
    })

    it('without a file, or with one that is not safe to store or to fetch, is refused', async () => {
      for (const change of [
        { name: '../tally' },
        { name: 'a/b' },
        { name: 'a\\b' },
        { name: 'c:b' },
        { name: '..' },
        { name: '' },
        { sha512: artifact.sha512.toUpperCase() },
        { sha512: artifact.sha512.slice(1) },
        { size: 0 },
        { size: 1.5 },
        { url: 'http://192.0.2.1/tally' },
        { url: 'http://127.0.0.1.example/tally' },
        { url: 'file:///etc/passwd' },
        { url: 'tally' },
      ]) {
        expect(await download(change), JSON.stringify(change)).toMatchObject({
          error: { kind: 'usage', code: 'invalid_argument' },
        })
      }
      const id = await machine().start()
      expect(await call(id, 'downloadUpdate', { ...update, artifact: null }, folder)).toMatchObject({
        error: { kind: 'usage', code: 'invalid_argument' },
      })
      expect(asked).toEqual([])
    })

    it('needs a folder that can be written', async () => {
      writeFileSync(folder, 'a file')
      expect(await download()).toMatchObject({ error: { kind: 'usage', code: 'storage_failed' } })
    })

    it('that stops coming is given up', async () => {
      answer = (response) => void response.writeHead(200).write('a few bytes')
      const id = await machine().start({ timeoutMs: 300 })
      expect(await call(id, 'downloadUpdate', offered(), folder)).toMatchObject({
        error: { kind: 'network', code: 'timed_out' },
      })
    })
  })
}
