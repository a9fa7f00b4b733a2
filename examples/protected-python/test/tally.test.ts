// In the full run: the one in TypeScript shows the same in every run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { otherKey, toPublic } from '../../../packages/sdk/test/signer.ts'
import { findLanguage } from '../../../sdks/conformance/languages.ts'
import { type LiveServer, startServer, type Vendor } from '../../../sdks/conformance/server.ts'

const { missing, command } = findLanguage('python')
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

describe.skipIf(missing !== undefined)('the protected program in Python, with a real server', () => {
  let python: string
  let server: LiveServer
  let vendor: Vendor
  let folder: string
  let text: string
  const running: { kill(): void }[] = []

  beforeAll(async () => {
    python = (await command())[0]!
    server = await startServer()
  })
  afterAll(() => server.close())

  beforeEach(async () => {
    vendor = await server.vendor()
    folder = await mkdtemp(join(tmpdir(), 'tally-'))
    text = join(folder, 'text.md')
    await writeFile(text, '# One heading\n\nfour words of text\n')
  })
  afterEach(async () => {
    for (const child of running.splice(0)) child.kill()
    await rm(folder, { recursive: true })
  })

  function run(
    args: string[],
    { publicKeys = vendor.keys as object[], places = folder, program = ['-m', 'tally'] } = {},
  ) {
    const child = spawn(python, [...program, ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: [at('..'), at('../../../sdks/python')].join(process.platform === 'win32' ? ';' : ':'),
        PYTHONDONTWRITEBYTECODE: '1',
        XDG_STATE_HOME: places,
        LOCALAPPDATA: places,
        HOME: places,
        TALLY_HOME: places,
        KEYWARD_BASE_URL: server.baseUrl,
        KEYWARD_APP_ID: vendor.app.appId,
        KEYWARD_SECRET: vendor.app.appSecret,
        KEYWARD_PUBLIC_KEYS: JSON.stringify(publicKeys),
        KEYWARD_HWID: 'machine-1',
      },
    })
    running.push(child)
    let output = ''
    const waiting: { text: string; found: () => void }[] = []
    const read = (chunk: Buffer) => {
      output += chunk
      for (const each of waiting) if (output.includes(each.text)) each.found()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    return {
      say: (line: string) => child.stdin.write(`${line}\n`),
      finish: () => child.stdin.end(),
      prints: (text: string) =>
        new Promise<void>((found) => (output.includes(text) ? found() : waiting.push({ text, found }))),
      end: once(child, 'close').then(([status]) => ({ status, output })),
    }
  }

  it('works with a license, remembers the key, and goes on offline until it signs out', async () => {
    const { key } = await vendor.issueKey()
    const first = await run(['--key', key, text]).end
    expect(first).toMatchObject({ status: 0, output: expect.stringMatching(/^Activated until \d{4}-/) })
    expect(first.output).toMatch(/text\.md +6 words +1 headings +1 min/)
    expect(await readFile(join(folder, 'license-key'), 'utf8')).toBe(`${key}\n`)
    await server.stop()
    try {
      const offline = await run([text]).end
      expect(offline).toMatchObject({ status: 0, output: expect.stringContaining('server is away') })
      expect(await run(['--sign-out']).end).toMatchObject({ status: 0 })
      expect(await run(['--key', key, text]).end).toMatchObject({ status: 2 })
    } finally {
      await server.start()
    }
  })

  it('does not work without a license and does not remember a rejected key', async () => {
    expect(await run([text]).end).toMatchObject({ status: 1, output: expect.stringContaining('--key') })
    const refused = await run(['--key', 'NO-SUCH-KEY', text]).end
    expect(refused).toMatchObject({
      status: 3,
      output: expect.stringMatching(
        /^License key not found\nCheck the key for typing mistakes\.\nReference: \w{10}\n$/,
      ),
    })
    expect(await run([text]).end).toMatchObject({ status: 1 })
  })

  it('notices a ban at the next piece of work, and does not start offline after it', async () => {
    const { key } = await vendor.issueKey()
    const tally = run(['--key', key, '--watch', text])
    await tally.prints('Watching')
    const { _id } = await vendor.client()
    await vendor.call('PATCH', `/clients/${_id}/toggle-ban`, { is_banned: true })
    await appendFile(text, 'more')
    const { status, output } = await tally.end
    expect(status).toBe(3)
    expect(output).toContain('User account is banned')
    expect(output.match(/text\.md/g)).toHaveLength(1)
    await server.stop()
    try {
      expect(await run([text]).end).toMatchObject({ status: 2 })
    } finally {
      await server.start()
    }
  })

  it('names the day of the end, and survives a folder that cannot be written and an empty file of the SDK', async () => {
    const { key, _id } = await vendor.issueKey()
    const blocked = join(folder, 'blocked')
    await writeFile(blocked, '')
    const unwritable = await run(['--key', key, text], { places: blocked }).end
    expect(unwritable).toMatchObject({ status: 0, output: expect.stringContaining('6 words') })
    expect(unwritable.output).toContain('The key could not be stored')
    await mkdir(join(folder, 'keyward'))
    await writeFile(join(folder, 'keyward', `${vendor.app.appId}.json`), '')
    expect(await run(['--key', key, text]).end).toMatchObject({ status: 0 })
    const expiresAt = new Date(Date.now() - 1_000).toISOString()
    await vendor.call('PUT', `/licenses/${_id}`, { expiresAt })
    expect(await run([text]).end).toMatchObject({
      status: 3,
      output: expect.stringContaining(`ended on ${expiresAt.slice(0, 10)}. Renew it`),
    })
  })

  it('has a page to renew in its window, and goes on in the same window once the license was renewed', async () => {
    const renewUrl = 'https://shop.example.com/renew'
    const { key, _id } = await vendor.sell({ name: 'Renewable', renewUrl })
    const window = join(folder, 'window.py')
    await writeFile(
      window,
      `import json
import os
import sys
from pathlib import Path
from keyward import Links
from tally.next_step import shop_pages
from tally.window import Desk

desk = Desk(sys.argv[1], Path(sys.argv[2]))
secret = os.environ.pop("KEYWARD_SECRET")
print(json.dumps(["without settings", desk.count().text, []]))
os.environ["KEYWARD_SECRET"] = secret
for line in sys.stdin:
    view = desk.count()
    print(json.dumps([line.strip(), view.text, [page.url for page in view.pages]]), flush=True)
print(shop_pages(Links("javascript:alert(1)", "file:///bin/sh", ())))
`,
    )
    const desk = run([key, text], { program: [window] })
    const look = async (name: string) => {
      desk.say(name)
      await desk.prints(name)
    }
    await look('first')
    await vendor.call('PUT', `/licenses/${_id}`, { expiresAt: new Date(Date.now() - 1_000).toISOString() })
    await look('ended')
    await vendor.call('PUT', `/licenses/${_id}`, { expiresAt: null })
    await look('renewed')
    desk.finish()
    const { output } = await desk.end
    const pages = [expect.stringMatching(/^https:\/\/shop\.example\.com\/renew\?reference=kwr_[\w-]+$/)]
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      ['without settings', expect.stringContaining('Not configured: secret.'), []],
      ['first', expect.stringContaining('6 words'), pages],
      ['ended', expect.stringContaining('Renew it'), pages],
      ['renewed', expect.stringContaining('6 words'), pages],
      [],
    ])
  })

  it('offers totals only with the feature of the license', async () => {
    const { key } = await vendor.issueKey()
    expect(await run(['--key', key, '--total', text]).end).toMatchObject({ status: 3 })
    const license = await vendor.sell({ name: 'Pro', features: ['totals'], devices: 3 })
    const total = await run(['--key', license.key, '--total', text, text]).end
    expect(total).toMatchObject({ status: 0, output: expect.stringMatching(/All +12 words/) })
  })

  it('runs on a machine that is never online, and gives the license back', async () => {
    const { key } = await vendor.issueKey()
    await server.stop()
    let file: string
    let code: string
    try {
      const { output: request } = await run(['--offline-request', key]).end
      const path = `/apps/${vendor.app._id}/offline-activations`
      file = (await vendor.call('POST', path, { request: request.trim() })).file
      await writeFile(join(folder, 'activation.txt'), file)
      expect(await run(['--activate', 'activation.txt']).end).toMatchObject({ status: 0 })
      expect(await run([text]).end).toMatchObject({ status: 0, output: expect.stringContaining('6 words') })
      const { output } = await run(['--deactivate']).end
      code = /KWD1-\S+/.exec(output)![0]
      expect(await run(['--key', key, text]).end).toMatchObject({ status: 2 })
    } finally {
      await server.start()
    }
    await vendor.call('POST', `/apps/${vendor.app._id}/offline-deactivations`, { code })
  })

  it('rejects a server whose key it does not know, and settings that are incomplete', async () => {
    const { key } = await vendor.issueKey()
    const faked = await run(['--key', key, text], { publicKeys: [toPublic(otherKey)] }).end
    expect(faked.status).toBe(4)
    expect(faked.output).not.toContain('text.md')
    expect(await run(['--key', key, text], { publicKeys: [] }).end).toMatchObject({ status: 1 })
  })
})
