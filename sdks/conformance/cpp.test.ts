import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Adapter } from './adapter.ts'
import { conformance } from './conformance.ts'
import { buildCpp, findLanguage } from './languages.ts'
import { answers } from './suites/answers.ts'
import { leases } from './suites/leases.ts'
import { signatures } from './suites/signatures.ts'

const { missing } = findLanguage('cpp')
const execute = promisify(execFile)

conformance('cpp')

describe.skipIf(missing !== undefined)('the C++ SDK with its own verification of Ed25519', () => {
  let running: Adapter
  beforeAll(async () => {
    const own = ['-O0', '-DKEYWARD_OWN_ED25519']
    const file = await buildCpp('conformance-own', own, ['sdks/cpp/conformance.cpp'])
    running = await Adapter.start([file])
  }, 600_000)
  afterAll(() => running?.stop())
  const adapter = () => running

  answers(adapter)
  signatures(adapter)
  leases(adapter, 'lease')
  leases(adapter, 'activation')
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
      const command = ['-std=c++17', ...strict, '-fsyntax-only', 'sdks/cpp/conformance.cpp']
      expect((await execute(compiler, command)).stderr).toBe('')
    })
  }
})
