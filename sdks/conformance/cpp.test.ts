import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { conformance } from './conformance.ts'
import { cppFlags, root } from './languages.ts'

conformance('cpp')

const compiler = 'x86_64-w64-mingw32-g++-posix'
const isMissing = spawnSync(compiler, ['--version']).status !== 0

describe.skipIf(isMissing)('the SDK for C++ on Windows', () => {
  it('compiles without a warning', () => {
    const args = [...cppFlags, '-fsyntax-only', 'sdks/cpp/conformance.cpp']
    const { status, stderr } = spawnSync(compiler, args, { cwd: root, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})
