// In the full run: it compiles the program; the one in TypeScript runs each time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { otherKey, toPublic } from '../../../packages/sdk/test/signer.ts'
import { buildCpp, findLanguage } from '../../../sdks/conformance/languages.ts'
import { type LiveServer, startServer, type Vendor } from '../../../sdks/conformance/server.ts'

const { missing } = findLanguage('cpp')

describe.skipIf(missing !== undefined)(`the protected example in C++ ${missing ?? ''}`.trim(), () => {
  let server: LiveServer
  let vendor: Vendor
  let tally: string
  let folder: string
  let text: string

  beforeAll(async () => {
    server = await startServer()
    const source = 'examples/protected-cpp/tally.cpp'
    const flags = ['-O0', '-DTALLY_CONFIG_FROM_ENVIRONMENT']
    tally = await buildCpp('tally', flags, [source], { folders: ['examples/protected-cpp'] })
  }, 600_000)
  afterAll(() => server?.close())
  beforeEach(async () => {
    vendor = await server.vendor()
    folder = await mkdtemp(join(tmpdir(), 'tally-'))
    text = join(folder, 'text.txt')
    await writeFile(text, 'four words of text\n')
    return () => rm(folder, { recursive: true })
  })

  function start(args: string[], publicKeys: object[] = vendor.keys) {
    const child = spawn(tally, args, {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_STATE_HOME: folder,
        KEYWARD_BASE_URL: server.baseUrl,
        KEYWARD_APP_ID: vendor.app.appId,
        KEYWARD_SECRET: vendor.app.appSecret,
        KEYWARD_HWID: 'machine-1',
        KEYWARD_PUBLIC_KEYS: JSON.stringify(publicKeys),
      },
    })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    return {
      child,
      prints: (expected: string) => expect.poll(() => output).toContain(expected),
      end: once(child, 'close').then(([status]) => ({ status, output })),
    }
  }
  const run = (...args: string[]) => start(args).end

  it('works with a license, and stays signed in if the app remembers sign-ins', async () => {
    await vendor.set({ rememberDays: 30 })
    const { key } = await vendor.sell({ name: 'Pro', features: ['reading-time'] })
    expect(await run(text)).toMatchObject({ status: 3, output: expect.stringContaining('--key') })
    expect(await run('--key', key, text)).toEqual({ status: 0, output: `${text}: 4 words, 1 min\n` })
    expect(await run(text)).toEqual({ status: 0, output: `${text}: 4 words, 1 min\n` })
  })

  it('hides features that the license does not include', async () => {
    const { key } = await vendor.issueKey()
    expect(await run('--key', key, text)).toEqual({ status: 0, output: `${text}: 4 words\n` })
    expect(await run('--key', 'NO-SUCH-KEY', text)).toMatchObject({
      status: 3,
      output: expect.stringMatching(/\nCheck the key for typing mistakes\.\nReference: \w{10}\n$/),
    })
  })

  it('notices a ban before the next piece of work', async () => {
    const { key } = await vendor.issueKey()
    const running = start(['--key', key])
    running.child.stdin.write(`${text}\n`)
    await running.prints('4 words\n')
    const { _id } = await vendor.client()
    await vendor.call('PATCH', `/clients/${_id}/toggle-ban`)
    running.child.stdin.end(`${text}\n`)
    const { status, output } = await running.end
    expect(status).toBe(3)
    expect(output.match(/4 words/g)).toHaveLength(1)
  })

  it('names the day of the end, and survives an empty file of the SDK and a folder that cannot be written', async () => {
    const { key, _id } = await vendor.issueKey()
    await mkdir(join(folder, 'keyward'))
    await writeFile(join(folder, 'keyward', `${vendor.app.appId}.json`), '')
    expect(await run('--key', key, text)).toEqual({ status: 0, output: `${text}: 4 words\n` })
    await rm(join(folder, 'keyward'), { recursive: true })
    await writeFile(join(folder, 'keyward'), '')
    expect(await run('--key', key, text)).toEqual({ status: 0, output: `${text}: 4 words\n` })
    const expiresAt = new Date(Date.now() - 1_000).toISOString()
    await vendor.call('PUT', `/licenses/${_id}`, { expiresAt })
    const ended = await run('--key', key, text)
    expect(ended).toMatchObject({
      status: 3,
      output: expect.stringContaining(`ended on ${expiresAt.slice(0, 10)}. Renew it`),
    })
  })

  it('works without the server after it was online, and not before', async () => {
    const { key } = await vendor.issueKey()
    await server.stop()
    const before = await run('--key', key, text)
    await server.start()
    expect(before).toMatchObject({ status: 2, output: expect.stringContaining('cannot be reached') })
    await run('--key', key, text)
    await server.stop()
    const after = await run(text)
    await server.start()
    expect(after).toEqual({ status: 0, output: `${text}: 4 words\n` })
  })

  it('works on a machine that is never online', async () => {
    const { key } = await vendor.issueKey()
    await server.stop()
    const asked = await run('--offline-request', key)
    await server.start()
    const request = asked.output.trim()
    expect(request).toMatch(/^KWR1-/)
    const { file } = await vendor.call('POST', `/apps/${vendor.app._id}/offline-activations`, { request })
    const path = join(folder, 'tally.kwa')
    await writeFile(path, file)
    await server.stop()
    const activated = await run('--activate', path)
    const worked = await run(text)
    const code = await run('--deactivate')
    const refused = await run(text)
    await server.start()
    expect(activated).toMatchObject({ status: 0, output: expect.stringMatching(/^Activated for /) })
    expect(worked).toEqual({ status: 0, output: `${text}: 4 words\n` })
    expect(code).toMatchObject({ status: 0, output: expect.stringMatching(/^KWD1(?:-[0-9A-Z]{4}){4}\n$/) })
    expect(refused.status).toBe(2)
  })

  it('rejects a server whose key it does not have', async () => {
    const { key } = await vendor.issueKey()
    const { status, output } = await start(['--key', key, text], [toPublic(otherKey)]).end
    expect(status).toBe(4)
    expect(output).not.toContain('words')
  })
})
