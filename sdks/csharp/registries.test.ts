import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildCsharp, findLanguage } from '../conformance/languages.ts'

const execute = promisify(execFile)
const { missing } = findLanguage('csharp')
const lacksCompiler = spawnSync('cc', ['--version']).status !== 0

describe.skipIf(missing !== undefined || lacksCompiler)('the SDK for C# asks for the ids of', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-registries-'))
  const program = join(folder, 'Tests.exe')

  beforeAll(async () => {
    copyFileSync(await buildCsharp('Tests'), program)
    const library = join(folder, 'registries.so')
    const source = fileURLToPath(new URL('registries.c', import.meta.url))
    await execute('cc', ['-shared', '-fPIC', '-Wall', '-Werror', '-o', library, source])
    const frameworks = ['IOKit', 'CoreFoundation'].map(
      (name) => `/System/Library/Frameworks/${name}.framework/${name}`,
    )
    const maps = ['advapi32.dll', ...frameworks].map((dll) => `<dllmap dll="${dll}" target="${library}"/>`)
    writeFileSync(`${program}.config`, `<configuration>${maps.join('')}</configuration>`)
    writeFileSync(join(folder, 'none.json'), '{}')
  }, 600_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  async function ask(system: string, failure = '') {
    const env = { PATH: process.env.PATH, HOME: folder, REGISTRY_FAILURE: failure }
    const { stdout } = await execute('mono', [program, join(folder, 'none.json'), system], { env })
    return JSON.parse(stdout)
  }

  it('Windows without starting a program', async () => {
    expect(await ask('windows')).toEqual({
      machine: '5F0C2A7B-E1D9-4836-8F21-0A1B2C3D4E5F',
      board: '{11111111-2222-3333-4444-555555555555}',
      disk: '  S4EWNX0 R12  ',
    })
    const notFound = '2'
    expect(await ask('windows', notFound)).toEqual({ machine: null, board: null, disk: null })
    const accessDenied = '5'
    expect(await ask('windows', accessDenied)).toEqual({ machine: null, board: null, disk: null })
    const ioError = '1117'
    expect((await ask('windows', ioError)).machine).toMatch(/IOException/)
  })

  it('macOS without starting a program', async () => {
    expect(await ask('macos')).toEqual({
      machine: '5F0C2A7B-E1D9-4836-8F21-0A1B2C3D4E5F',
      board: 'C02XK0AAJHD2',
      disk: 'S4EWNX0R12',
    })
    expect((await ask('macos', '5')).machine).toMatch(/IOException/)
  })
})
