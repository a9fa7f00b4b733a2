// In the full run: it compiles the SDK.
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeDevice } from '../../packages/sdk/src/device.ts'
import { defaultHwid } from '../../packages/sdk/src/hwid.ts'
import { amalgamate } from '../amalgamate.ts'
import { buildCsharp, findLanguage } from '../conformance/languages.ts'
import { refuse, type StandIn, signed, startStandIn, succeed, user } from '../conformance/stand-in.ts'

const execute = promisify(execFile)
const { missing } = findLanguage('csharp')
const sdk = amalgamate('csharp')
const source = readFileSync(sdk, 'utf8')

describe('the file Keyward.cs', () => {
  it('awaits nothing on the thread of the caller', () => {
    const awaited = source.split('\n').filter((line) => /\bawait\b/.test(line) && !line.includes('///'))
    const statements = awaited.filter((line) => !line.includes('ConfigureAwait(false)') && line.includes(';'))
    expect(statements).toEqual([])
  })
})

describe.skipIf(missing !== undefined)('the README for C#', () => {
  it('has a first program that compiles', async () => {
    const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
    const [, program = ''] = /```csharp\n(using System;.*?)```/s.exec(readme) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'keyward-readme-'))
    const file = join(folder, 'Program.cs')
    writeFileSync(file, program)
    const references = ['-r:System.Net.Http.dll', '-r:System.Numerics.dll']
    const flags = ['-langversion:7', '-warnaserror', `-out:${join(folder, 'program.exe')}`]
    await execute('mcs', [...flags, ...references, file, sdk])
    rmSync(folder, { recursive: true })
  })

  it('names every option and every error code', () => {
    const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
    const [, options = ''] = /class KeywardOptions\n {4}\{\n(.*?)\n {4}\}/s.exec(source) ?? []
    const names = [...options.matchAll(/public \S+ (\w+) \{/g)].map(([, name]) => name)
    const codes = [...source.matchAll(/(?:Exception|refused|Wrong|Rejected)\("([a-z_]+)",/g)].map(
      ([, code]) => code,
    )
    expect(names.length).toBeGreaterThan(10)
    expect(codes.length).toBeGreaterThan(20)
    expect([...names, ...codes].filter((each) => !readme.includes(`\`${each}\``))).toEqual([])
  })
})

const titles = [
  'does not hang a UI thread that blocks on a result',
  "returns to no caller's synchronization context",
  'ends a call with OperationCanceledException as soon as the caller cancels',
  'opens one session for 32 threads that start at once',
  'does not let one caller cancel the session that others wait for',
  'has the same answers in Turkish, German, Thai and Persian',
  'shows an answer through typed members',
  'shows a refusal through typed members',
  'survives JSON that is nested 100,000 deep',
  'rejects options that would inject a header',
  'rejects a hardware id that is null by mistake',
  'keeps working online while the storage cannot be written',
  'reports a storage that cannot be written to a machine that is never online',
  'creates its file for the user alone',
  'removes the lock of a program that was ended',
  'loses no change of two clients on one file',
  'reports a handler that fails as a network error',
  'ignores a log hook that throws, and names no secret in events',
  'names what is wrong with a certificate',
  'verifies a signature in less than 20 ms on average',
]

describe.skipIf(missing !== undefined)('the SDK for C#', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-csharp-'))
  const permissions = join(folder, 'new', 'folder', 'app.json')
  const results = new Map<string, string | null>()
  let program: string
  let server: StandIn
  let sessions: () => number

  beforeAll(async () => {
    program = await buildCsharp('Tests')
    server = await startStandIn()
    const spaces = toSpaces(server)
    sessions = () => spaces.once.requests('init').length
    const facts = Object.fromEntries(Object.entries(spaces).map(([name, { baseUrl }]) => [name, baseUrl]))
    const file = join(folder, 'facts.json')
    const publicKeys = JSON.stringify(server.publicKeys)
    writeFileSync(file, JSON.stringify({ ...facts, publicKeys, folder, permissions }))
    const { stdout } = await execute('mono', [program, file], { maxBuffer: 16 * 1024 * 1024 })
    for (const line of stdout.trim().split('\n')) {
      const { name, problem } = JSON.parse(line)
      results.set(name, problem)
    }
  }, 600_000)

  afterAll(async () => {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(titles)('%s', (title) => {
    expect(results.get(title)).toBeNull()
  })

  it('runs no test that is not named here', () => {
    expect([...results.keys()]).toEqual(titles)
  })

  it('sends init once for 32 threads', () => {
    expect(sessions()).toBe(1)
  })

  it('keeps its file with mode 0600 in a folder with mode 0700', () => {
    expect(statSync(permissions).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(permissions)).mode & 0o777).toBe(0o700)
  })

  it('reads and writes JSON as JavaScript does', () => {
    const broken = [
      ...['', ' ', 'nul', 'tru', '01', '-', '-01', '1.', '.5', '1e', '1e+', '+1', '0x1', 'NaN', 'Infinity'],
      ...[
        '[1,]',
        '[,1]',
        '{"a":1,}',
        "{'a':1}",
        '{a:1}',
        '{"a"}',
        '[1 2]',
        '[1]]',
        '"\n"',
        '"\\x"',
        '"\\u12g4"',
      ],
      ...['"\\u12', '"abc', '\u00a01', '\ufeff1', '[1]\0', '\0', '1\0', '"\0"', '//1', '/**/1', 'undefined'],
    ]
    const odd = [
      ...['1e999', '-1e999', '1e-999', '-0', '0e0', '9007199254740993', '123456789012345678901234567890'],
      ...[
        '{"a":1,"a":2}',
        '{"__proto__":1}',
        '"\\ud800"',
        '"\\udc00\\ud800"',
        '"\\ud83d\\ude00"',
        '"\\u0000"',
      ],
      ...['"\u2028\u007f"', ' \t\r\n[ ] ', '{"":{}}', '[[],{}]', '"/\\/"', '1E5', '1.5e-3', '"é"', '"İ"'],
    ]
    const random = Array.from({ length: 500 }, (_, seed) => JSON.stringify(someValue(seed)))
    const mutated = random.map(
      (text, at) => text.slice(0, at % (text.length + 1)) + text.slice((at % (text.length + 1)) + 1),
    )
    const texts = [...broken, ...odd, ...random, ...mutated]
    const input = texts.map((text) => `${JSON.stringify(text)}\n`).join('')
    const none = join(folder, 'none.json')
    writeFileSync(none, '{}')
    const { stdout } = spawnSync('mono', [program, none, 'json'], { input, encoding: 'utf8' })
    const lines = stdout.split('\n')
    for (const [at, text] of texts.entries()) {
      expect(readBack(lines[at]!), text).toEqual(readBack(text))
    }
  })

  it('finds the hardware id, the parts and the file that the TypeScript SDK finds', async () => {
    const appId = 'app12345'
    const home = join(folder, 'home')
    mkdirSync(home)
    const env = { PATH: process.env.PATH, HOME: home }
    const facts = join(folder, 'machine.json')
    const spaces = toSpaces(server)
    const { baseUrl } = spaces.machine
    writeFileSync(facts, JSON.stringify({ baseUrl, publicKeys: JSON.stringify(server.publicKeys) }))
    await execute('mono', [program, facts, 'machine'], { env })
    const [request] = spaces.machine.requests('license')
    const { hwid, device } = request!.body
    expect(hwid).toBe(await defaultHwid(appId))
    expect(device).toEqual(await describeDevice(appId))
    const kept = JSON.parse(readFileSync(join(home, '.local', 'state', 'keyward', `${appId}.json`), 'utf8'))
    expect(kept.deviceToken).toBe('token-1')
  })
})

/** A value whose form follows from the number, without the numbers whose last digits frameworks write differently. */
function someValue(seed: number, depth = 0): unknown {
  const next = (seed * 7_919 + 104_729) % 65_521
  const scalars = [null, true, false, seed - 250, seed / 8, `text ${seed} \u0000"\\é\ud83d\ude00`, '', 'a\nb']
  if (depth > 5 || next % 4 === 0) return scalars[next % scalars.length]
  const items = Array.from({ length: next % 5 }, (_, at) => someValue(next + at, depth + 1))
  return next % 4 === 1 ? items : Object.fromEntries(items.map((item, at) => [`k${at}"${seed}`, item]))
}

/** What JavaScript reads, or the word for a text that is not JSON. */
function readBack(text: string): unknown {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return 'not JSON'
  }
}

function toSpaces(server: StandIn) {
  const names = [
    'normal',
    'once',
    'silent',
    'slow',
    'refusing',
    'deep',
    'deepUnsigned',
    'remembering',
    'machine',
  ] as const
  const spaces = Object.fromEntries(names.map((name) => [name, server.space()])) as Record<
    (typeof names)[number],
    ReturnType<StandIn['space']>
  >
  for (const space of Object.values(spaces)) {
    for (const call of ['license', 'login', 'session', 'register']) space.on(call, succeed({ user }))
    space.on('logout', succeed({}))
    space.on('lease', refuse(403, 'vpnBlocked'))
  }
  const details = {
    until: '2026-01-01T00:00:00.000Z',
    seats: { used: 3, limit: 3 },
    devices: null,
    expiresAt: null,
  }
  const refusal = { success: false, code: 'noSeats', message: 'All taken', reference: 'ABCDEFGHJK', details }
  const deep = `{"success":true,"data":{"user":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  const opened =
    (ms: number) =>
    (
      seen: Parameters<ReturnType<typeof succeed>>[0],
      response: Parameters<ReturnType<typeof succeed>>[1],
    ) => {
      const data = { session: 'session-1', app: { name: 'Tally', version: '1.0.0' } }
      const { status, headers, body } = signed(seen, 200, { success: true, data })
      setTimeout(() => response.writeHead(status, headers).end(body), ms)
      return undefined
    }
  spaces.once.on('init', opened(300))
  spaces.slow.on('init', opened(1_500))
  spaces.silent.on('init', () => undefined)
  spaces.refusing.on('license', (seen) => signed(seen, 403, refusal))
  spaces.deep.on('license', (seen) => signed(seen, 200, deep))
  spaces.deepUnsigned.on('license', () => ({ status: 403, headers: {}, body: deep }))
  for (const space of [spaces.remembering, spaces.machine]) {
    space.on('license', succeed({ user, deviceToken: 'token-1' }))
  }
  return spaces
}
