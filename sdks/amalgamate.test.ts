import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { amalgamate, amalgamateCpp, amalgamateCsharp } from './amalgamate.ts'
import { cppFlags, csharpFlags, findLanguage } from './conformance/languages.ts'

const sources = {
  cpp: join(import.meta.dirname, 'cpp/src'),
  csharp: join(import.meta.dirname, 'csharp/src'),
}
const partsOf = (folder: string, end: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(end))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-amalgamate-'))
  return () => rmSync(folder, { recursive: true })
})
const write = (name: string, ...lines: string[]) =>
  writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(''))

describe('keyward.hpp', () => {
  it('has the same bytes in every build', () => {
    expect(amalgamateCpp()).toBe(amalgamateCpp())
    expect(readFileSync(amalgamate('cpp'), 'utf8')).toBe(amalgamateCpp())
  })

  it('names each part once, and has one license and no include of a part', () => {
    const lines = amalgamateCpp().split('\n')
    const count = (line: string) => lines.filter((each) => each === line).length
    for (const name of partsOf(sources.cpp, '.hpp')) {
      const isList = ['keyward', 'files', 'http', 'machine'].includes(name.replace('.hpp', ''))
      expect([name, count(`// ${name}`)]).toEqual([name, isList ? 0 : 1])
    }
    expect(count('// SPDX-License-Identifier: Apache-2.0')).toBe(1)
    expect(lines.filter((line) => /#pragma once|#include "/.test(line))).toEqual([])
  })

  it('is not built from a part that would be lost', () => {
    write('keyward.hpp', '#pragma once', '', '#include "one.hpp"')
    write('one.hpp', '#pragma once', '', 'int one();')
    expect(amalgamateCpp(folder)).toContain('// one.hpp\n\nint one();\n')
    write('two.hpp', '#pragma once', '', 'int two();')
    expect(() => amalgamateCpp(folder)).toThrow('includes no two.hpp')
    write('one.hpp', '#pragma once', '', '#ifdef _WIN32', '#include "two.hpp"', '#endif')
    expect(() => amalgamateCpp(folder)).toThrow('must begin with')
  })

  it.skipIf(findLanguage('cpp').missing !== undefined)('has parts that compile alone', () => {
    // Each takes a second or two; `keyward.hpp` includes them all.
    const names = process.env.TEST_FULL ? partsOf(sources.cpp, '.hpp') : ['keyward.hpp']
    for (const name of names) {
      const args = [...cppFlags, '-fsyntax-only', '-I.', '-xc++', '-']
      const input = `#include "${name}"\n`
      const { stderr } = spawnSync('g++', args, { cwd: sources.cpp, input, encoding: 'utf8' })
      expect([name, stderr]).toEqual([name, ''])
    }
  })
})

describe('Keyward.cs', () => {
  it('has the same bytes in every build', () => {
    expect(amalgamateCsharp()).toBe(amalgamateCsharp())
    expect(readFileSync(amalgamate('csharp'), 'utf8')).toBe(amalgamateCsharp())
  })

  it('names each part once, and has one license and each using once', () => {
    const lines = amalgamateCsharp().split('\n')
    const parts = partsOf(sources.csharp, '.cs').map((name) => name.replace('Internal/', ''))
    for (const name of parts)
      expect([name, lines.filter((line) => line === `    // ${name}`).length]).toEqual([name, 1])
    expect(lines.filter((line) => line.includes('Apache License'))).toHaveLength(1)
    const usings = lines.filter((line) => line.startsWith('using '))
    expect(usings).toEqual([...new Set(usings)])
    expect(lines.findLastIndex((line) => line.startsWith('using '))).toBeLessThan(
      lines.indexOf('namespace Keyward'),
    )
  })

  it('is not built from a part with more than its usings and its namespace', () => {
    mkdirSync(join(folder, 'Internal'))
    write('One.cs', 'using System;', '', 'namespace Keyward', '{', '    class One { }', '}')
    expect(amalgamateCsharp(folder)).toContain('    // One.cs\n\n    class One { }\n')
    write('Two.cs', 'namespace Keyward', '{', '    class Two { }', '}', '', 'class Three { }')
    expect(() => amalgamateCsharp(folder)).toThrow('Two.cs must have')
    write('Two.cs', 'namespace Other', '{', '    class Two { }', '}')
    expect(() => amalgamateCsharp(folder)).toThrow('Two.cs must have')
  })

  it.skipIf(findLanguage('csharp').missing !== undefined)('has parts that compile beside each other', () => {
    const target = `-out:${join(folder, 'parts.dll')}`
    const args = [...csharpFlags, '-target:library', target, ...partsOf(sources.csharp, '.cs')]
    const { stdout, stderr } = spawnSync('mcs', args, { cwd: sources.csharp, encoding: 'utf8' })
    expect(stdout + stderr).toBe('')
  })
})
