import { spawn } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../../../apps/server/test/eventually.ts'
import { otherKey, testKey } from '../../../packages/sdk/test/signer.ts'
import {
  plain,
  refuse,
  type StandIn,
  signed,
  startStandIn,
  succeed,
  user,
} from '../../../packages/sdk/test/stand-in.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
let server: StandIn
let folder: string
let text: string

beforeEach(async () => {
  server = await startStandIn()
  server.on('license', succeed({ user }))
  server.on('session', succeed({ user }))
  server.on('logout', succeed({}))
  folder = await mkdtemp(join(tmpdir(), 'tally-'))
  text = join(folder, 'text.md')
  await writeFile(text, '# One heading\n\nfour words of text\n')
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const run = (...args: string[]) => runWith({}, ...args)

function runWith(env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, [join(root, 'examples/protected-cli/src/tally.mjs'), ...args], {
    cwd: folder,
    env: {
      ...process.env,
      TZ: 'UTC',
      TALLY_HOME: folder,
      HOME: folder,
      XDG_STATE_HOME: folder,
      LOCALAPPDATA: folder,
      ...env,
      KEYWARD_BASE_URL: server.baseUrl,
      KEYWARD_APP_ID: 'app12345',
      KEYWARD_SECRET: 'secret',
      KEYWARD_PUBLIC_KEYS: JSON.stringify(server.publicKeys),
      KEYWARD_HWID: 'machine',
    },
  })
  let output = ''
  let hasEnded = false
  const read = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const end = once(child, 'close').then(([status]) => {
    hasEnded = true
    return { status, output }
  })
  return {
    end,
    prints: (text: string) => eventually(() => expect(output).toContain(text)),
    /** Changes the file until the program has ended: a check without an answer in time skips one piece of work. */
    endsWhileTextChanges: async () => {
      while (!hasEnded) {
        await appendFile(text, 'more')
        await Promise.race([end, setTimeout(1000)])
      }
      return end
    },
  }
}

it('works with a license, prints its expiry, and remembers the key', async () => {
  const first = await run('--key', 'GOOD-KEY', text).end
  expect(first).toMatchObject({ status: 0 })
  expect(first.output).toContain('Activated until January 1, 2030')
  expect(first.output).toMatch(/text\.md\s+6\s+1\s+1 min/)
  expect(server.calls()).toEqual(['init', 'license', 'lease', 'session'])
  expect(await readFile(join(folder, 'license-key'), 'utf8')).toBe('GOOD-KEY\n')
  expect(await run(text).end).toMatchObject({ status: 0 })
  expect(server.seen.at(-3)?.body).toMatchObject({ licenseKey: 'GOOD-KEY' })
})

it('does not work without a license and does not remember a rejected key', async () => {
  server.on('session', refuse(401, 'sessionUnauthed', 'Not signed in'))
  expect(await run(text).end).toMatchObject({ status: 1 })
  server.on('license', refuse(404, 'keyNotFound', 'No such key'))
  const refused = await run('--key', 'BAD-KEY', text).end
  expect(refused).toMatchObject({ status: 3, output: 'No such key\nCheck the key for typing mistakes.\n' })
  const answer = { success: false, code: 'keyNotFound', message: 'No such key', reference: 'A1B2C3D4E5' }
  server.on('license', (seen) => signed(seen, 404, answer))
  const referred = await run('--key', 'BAD-KEY', text).end
  expect(referred.output).toBe('No such key\nCheck the key for typing mistakes.\nReference: A1B2C3D4E5\n')
  expect(await run(text).end).toMatchObject({ status: 1 })
})

it('names a file that cannot be read', async () => {
  const missing = join(folder, 'missing.md')
  const { status, output } = await run('--key', 'GOOD-KEY', text, missing).end
  expect(status).toBe(1)
  expect(output).toMatch(new RegExp(`\n${missing} cannot be read\\.\n$`))
  expect(output).not.toContain('ENOENT')
})

it("notices a ban at the next piece of work and exits with the app's message", async () => {
  const tally = run('--key', 'GOOD-KEY', '--watch', text)
  await tally.prints('Watching')
  server.on('session', refuse(403, 'userBanned', 'You were banned'))
  const { status, output } = await tally.endsWhileTextChanges()
  expect(status).toBe(3)
  expect(output).toMatch(/You were banned\nAsk the vendor\.\n$/)
  expect(output.match(/text\.md/g)).toHaveLength(1)
})

it('skips work while the server is unreachable and continues afterwards', async () => {
  const tally = run('--key', 'GOOD-KEY', '--watch', text)
  await tally.prints('Watching')
  server.on('session', plain(503, '', { 'retry-after': '600' }))
  await appendFile(text, 'more')
  await tally.prints('Skipped')
  server.on('session', refuse(403, 'noActiveSubs', 'Expired'))
  expect(await tally.endsWhileTextChanges()).toMatchObject({ status: 3 })
})

it('rejects a server that cannot sign', async () => {
  server.on('session', (seen) => signed(seen, 200, { success: true, data: { user } }, { key: otherKey }))
  const faked = await run('--key', 'GOOD-KEY', text).end
  expect(faked.status).toBe(4)
  expect(faked.output).not.toContain('text.md')
})

it('says what to do when the server cannot be reached, and exits', async () => {
  server.on('init', plain(503, '', { 'retry-after': '600' }))
  expect(await run('--key', 'GOOD-KEY', text).end).toMatchObject({
    status: 2,
    output: expect.stringContaining('cannot be reached'),
  })
})

it('forgets the key and what the SDK stored', async () => {
  await run('--key', 'GOOD-KEY', text).end
  expect(await run('--forget').end).toMatchObject({ status: 0 })
  expect(await stored()).toMatchObject({ user: null })
  server.on('session', refuse(401, 'sessionUnauthed', 'Not signed in'))
  expect(await run(text).end).toMatchObject({ status: 1 })
})

it('runs without any server with a file for its request, and ends with a code', async () => {
  await server.close()
  const { status, output } = await run('--offline-request', 'GOOD-KEY').end
  expect(status).toBe(0)
  const request = output.trim()
  expect(request).toMatch(/^KWR1-[0-9A-HJKMNP-TV-Z-]+$/)
  const { nonce } = (await stored()).activation.pending
  const file = join(folder, 'tally.kwa')
  await writeFile(file, activationFile(nonce))
  expect(await run('--activate', file).end).toMatchObject({ status: 0 })
  const works = await run(text).end
  expect(works).toMatchObject({ status: 0 })
  expect(works.output).toMatch(/text\.md\s+6\s+1\s+1 min/)
  const ended = await run('--deactivate').end
  expect(ended.output).toContain('KWD1-AAAA-BBBB-CCCC-DDDD')
  const again = await run('--activate', file).end
  expect(again).toMatchObject({ status: 1 })
  expect(again.output).toContain('does not answer the last request')
  expect(await run(text).end).toMatchObject({ status: 1 })
  server = await startStandIn()
})

it('survives a folder that cannot be written, and an empty file of the SDK', async () => {
  const blocked = join(folder, 'blocked')
  await writeFile(blocked, '')
  const places = { TALLY_HOME: blocked, XDG_STATE_HOME: blocked, LOCALAPPDATA: blocked }
  const unwritable = await runWith(places, '--key', 'GOOD-KEY', text).end
  expect(unwritable).toMatchObject({ status: 0, output: expect.stringMatching(/text\.md\s+6/) })
  expect(unwritable.output).toContain('The key could not be stored')
  await mkdir(join(folder, 'keyward'))
  await writeFile(join(folder, 'keyward/app12345.json'), '')
  expect(await run('--key', 'GOOD-KEY', text).end).toMatchObject({ status: 0 })
  await writeFile(join(folder, 'keyward/app12345.json'), '')
  expect(await run(text).end).toMatchObject({ status: 0 })
})

it.each([
  ['noActiveSubs', { expiresAt: '2026-03-01T00:00:00.000Z' }, 'ended on March 1, 2026. Renew it'],
  ['hwidMismatch', { devices: { used: 2, limit: 2 } }, 'in use on 2 of 2 computers'],
  ['noSeats', { seats: { used: 5, limit: 5 }, until: '2026-03-01T10:05:00.000Z' }, 'March 1, 2026 at 10:05'],
  ['pausedApp', {}, 'Try again later'],
  ['aCodeOfTheFuture', {}, 'Ask the vendor.'],
])('names one next step after %s, with its date or numbers', async (code, details, step) => {
  server.on('license', (seen) => signed(seen, 403, { success: false, code, message: 'No.', details }))
  const { status, output } = await run('--key', 'GOOD-KEY', text).end
  expect(status).toBe(3)
  expect(output).toMatch(/^No\.\n[^\n]+\n$/)
  expect(output).toContain(step)
})

it('shows where to renew after a refusal that a purchase mends', async () => {
  const links = {
    buy: null,
    renew: 'https://shop.example/?reference=kwr_1',
    upgrades: [{ name: 'Team', url: 'https://shop.example/team' }],
  }
  const refusal = {
    success: false,
    code: 'noActiveSubs',
    message: 'No.',
    details: { expiresAt: null, links },
  }
  server.on('license', (seen) => signed(seen, 403, refusal))
  const { output } = await run('--key', 'GOOD-KEY', text).end
  expect(output).toMatch(
    /\nRenew: https:\/\/shop\.example\/\?reference=kwr_1\nTeam: https:\/\/shop\.example\/team\n$/,
  )
})

it('updates itself to the next version and starts it, and never starts another file', async () => {
  const next = Buffer.from("console.log('Tally 2.0.0 reads', process.argv.length - 2, 'file')\n")
  const files = createServer((_, response) => response.end(next))
  await once(files.listen(0, '127.0.0.1'), 'listening')
  const { port } = files.address() as AddressInfo
  const artifact = {
    ...{ platform: 'linux', architecture: 'x64', kind: 'full', name: 'tally-2.0.0.mjs', size: next.length },
    url: `http://127.0.0.1:${port}/tally`,
    sha512: createHash('sha512').update(next).digest('hex'),
  }
  const offer = (change: object) =>
    succeed({
      update: { version: '2.0.0', artifact: { ...artifact, ...change }, security: null },
      beyond: null,
    })
  await run('--key', 'GOOD-KEY', text).end
  server.on('updates', offer({ sha512: 'f'.repeat(128) }))
  const forged = await run('--update', 'new', text).end
  expect(forged.status).toBe(4)
  expect(forged.output).not.toContain('2.0.0 reads')
  server.on('updates', offer({}))
  expect(await run('--update', 'new', text).end).toEqual({ status: 0, output: 'Tally 2.0.0 reads 1 file\n' })
  expect(server.seen.at(-1)?.body).toMatchObject({ licenseKey: 'GOOD-KEY' })
  server.on('updates', succeed({ update: null, beyond: null }))
  expect(await run('--update', 'new').end).toEqual({ status: 0, output: 'This is the newest version.\n' })
  files.close()
})

it('stays signed in when copies start together, round after round', async () => {
  let latest = 1
  const signedOut = refuse(401, 'sessionUnauthed', 'Not signed in')
  server.on('license', succeed({ user, deviceToken: 'token-1' }))
  server.on('session', signedOut)
  let isExchanged = false
  // Follows the server: the latest token and the one before sign in, every other one is a stolen copy, and a token is
  // exchanged at most once a minute, here once a round.
  server.on('resume', (seen, response) => {
    const number = Number(/\d+$/.exec((seen.body as { deviceToken: string }).deviceToken)![0])
    if (number < latest - 1) return signedOut(seen, response)
    if (number === latest && !isExchanged) {
      latest += 1
      isExchanged = true
    }
    return succeed({ user, deviceToken: `token-${latest}` })(seen, response)
  })
  await run('--key', 'GOOD-KEY', text).end
  for (let round = 0; round < 3; round++) {
    isExchanged = false
    await rm(join(folder, 'license-key'), { force: true })
    const ends = await Promise.all([run(text).end, run(text).end, run(text).end])
    expect(ends.map(({ status }) => status)).toEqual([0, 0, 0])
    expect(await stored()).toMatchObject({ deviceToken: `token-${latest}` })
  }
})

const stored = async () => JSON.parse(await readFile(join(folder, 'keyward/app12345.json'), 'utf8'))

/** A file as the server signs it. */
function activationFile(nonce: string): string {
  const seconds = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'keyward',
    aud: 'app12345',
    sub: user._id,
    hwid: createHash('sha256').update('machine').digest('hex'),
    nonce,
    iat: seconds,
    exp: seconds + 3600,
    seq: 1,
    features: [],
    username: 'GOOD-KEY',
    term: 'forever',
    expiresAt: null,
    deactivation: 'KWD1-AAAA-BBBB-CCCC-DDDD',
  }
  const header = { alg: 'EdDSA', typ: 'keyward-activation+jws', kid: testKey.kid }
  const input = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign(null, Buffer.from(input), { key: testKey, format: 'jwk' } as never)
  return `${input}.${signature.toString('base64url')}\n`
}
