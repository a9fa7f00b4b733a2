// In the full run: it compiles the SDK, whose cases the one in TypeScript passes in every run.
import { execFile, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { amalgamate } from '../amalgamate.ts'
import { Adapter } from './adapter.ts'
import { conformance } from './conformance.ts'
import { buildCpp, findLanguage, hasHeader } from './languages.ts'
import { answers } from './suites/answers.ts'
import { leases } from './suites/leases.ts'
import { signatures } from './suites/signatures.ts'

const { missing } = findLanguage('cpp')
const execute = promisify(execFile)

conformance('cpp')

const withLibsodium = () =>
  buildCpp('conformance-libsodium', ['-O0', '-DKEYWARD_LIBSODIUM'], ['sdks/cpp/conformance.cpp'], {
    libraries: ['-lsodium'],
  })
const missesLibsodium = missing !== undefined || !hasHeader('sodium.h')

describe.skipIf(missesLibsodium)('the C++ SDK with libsodium', () => {
  let running: Adapter
  beforeAll(async () => {
    running = await Adapter.start([await withLibsodium()])
  }, 600_000)
  afterAll(() => running?.stop())
  const adapter = () => running

  answers(adapter)
  signatures(adapter)
  leases(adapter, 'lease')
  leases(adapter, 'activation')
})

describe.skipIf(missesLibsodium)('a replaced libsodium', () => {
  const forge = `
    int crypto_sign_verify_detached() { return 0; }
    int crypto_hash_sha256(unsigned char *out) { for (int i = 0; i < 32; i++) out[i] = 0; return 0; }
    int crypto_hash_sha512(unsigned char *out) { for (int i = 0; i < 64; i++) out[i] = 0; return 0; }`

  async function accepts(command: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'keyward-preload-'))
    await writeFile(join(folder, 'forge.c'), forge)
    const library = join(folder, 'forge.so')
    await execute('cc', ['-shared', '-fPIC', '-w', '-o', library, join(folder, 'forge.c')])
    const adapter = await Adapter.start(command, { env: { LD_PRELOAD: library } })
    const { valid } = await adapter.ask({
      op: 'ed25519',
      publicKey: '26b40b8f93fff3d897112f7ebc582b232dbd72517d082fe83cfb30ddce43d1bb',
      message: '',
      signature: '00'.repeat(64),
    })
    await adapter.stop()
    await rm(folder, { recursive: true })
    return valid
  }

  it('forges nothing in a program that verifies with the code of the header, as by default', async () => {
    expect(await accepts(await findLanguage('cpp').command())).toBe(false)
  }, 600_000)

  it('forges every answer in a program that asked for libsodium', async () => {
    expect(await accepts([await withLibsodium()])).toBe(true)
  }, 600_000)
})

const curl = /^libcurl (\d+)\.(\d+)/.exec(
  String(spawnSync('curl-config', ['--version'], { encoding: 'utf8' }).stdout),
)
// Earlier versions of libcurl wait for the name server.
const canLeave = curl !== null && Number(curl[1]) * 1_000 + Number(curl[2]) >= 7_087

describe.skipIf(missing !== undefined || !canLeave)('a name server that does not answer', () => {
  const never = `
    #include <unistd.h>
    int getaddrinfo() { sleep(60); return -3; }`

  it('delays a call of the C++ SDK no longer than its time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyward-names-'))
    await writeFile(join(folder, 'never.c'), never)
    const library = join(folder, 'never.so')
    await execute('cc', ['-shared', '-fPIC', '-w', '-o', library, join(folder, 'never.c')])
    const command = await findLanguage('cpp').command()
    const adapter = await Adapter.start(command, { env: { LD_PRELOAD: library } })
    const { publicKey } = generateKeyPairSync('ed25519')
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'key' }
    const options = { publicKeys: [key], appId: 'app12345', secret: 's', version: '1', hwid: 'machine' }
    await adapter.open('a', { ...options, baseUrl: 'https://licenses.example.com', timeoutMs: 2_000 })
    const startedAt = performance.now()
    const { error } = await adapter.call('a', 'session')
    expect(error).toMatchObject({ kind: 'network', code: 'timed_out' })
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    await adapter.stop()
    await rm(folder, { recursive: true })
  }, 600_000)
})

describe('the header of the C++ SDK', () => {
  const strict = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Werror']
  const sources = ['checks.cpp', 'checks-unit.cpp'].map((name) => `sdks/cpp/${name}`)

  it.skipIf(missing !== undefined)(
    'links in two translation units, compiles as C++20, and passes its checks',
    async () => {
      const file = await buildCpp('checks', ['-std=c++20', '-O0', ...strict], sources)
      const { code, stdout } = await execute(file).catch((error) => error)
      expect({ code, stdout }).toEqual({ code: undefined, stdout: '' })
    },
  )

  for (const compiler of ['x86_64-w64-mingw32-g++-posix', 'clang++']) {
    const isMissing = spawnSync(compiler, ['--version']).status !== 0
    it.skipIf(isMissing)(`compiles without a warning with ${compiler}`, async () => {
      const folder = dirname(amalgamate('cpp'))
      const command = ['-std=c++17', ...strict, '-fsyntax-only', `-I${folder}`, 'sdks/cpp/conformance.cpp']
      expect((await execute(compiler, command)).stderr).toBe('')
    })
  }
})
