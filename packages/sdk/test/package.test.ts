import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'

/** Compilers and other runtimes come from the registry, so only CI installs them. */
const full = process.env.CI !== undefined

let folder: string
let packed: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-sdk-'))
  const script: string = '../../../scripts/ensure.mjs'
  const { packSdk } = await import(script)
  packed = packSdk(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(cwd: string, file: string, args: string[]): string {
  return execFileSync(file, args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' })
}

/** The files of a package by their paths. */
function unpack(name: string, file: string): Record<string, string> {
  const target = join(folder, name)
  mkdirSync(target)
  run(target, 'tar', ['-xzf', file])
  const paths = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(target.length), readFileSync(path, 'utf8')]
    }),
  )
}

/** An empty project with the packed SDK. */
function makeProject(name: string, manifest: object): string {
  const project = join(folder, name)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, ...manifest }))
  run(project, 'npm', ['install', '--offline', '--no-audit', '--no-fund', packed])
  return project
}

/** Installs exact versions of tools; the test is skipped where the registry cannot be reached. */
function installTools(project: string, tools: string[], { skip }: TestContext): void {
  try {
    run(project, 'npm', ['install', '--no-audit', '--no-fund', ...tools])
  } catch {
    skip('The registry cannot be reached')
  }
}

function closedPort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    }),
  )
}

const publicKey = {
  ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
  kid: 'k',
}

/** Prints `true unreachable`: the SDK loads, checks its options and makes a request. */
const program = (load: string, port: number, { proxy = false } = {}) => `${load}
const keyward = new Keyward({
  baseUrl: '${proxy ? 'https://licenses.example.com' : `http://127.0.0.1:${port}`}', appId: 'k3yw4rd1', secret: 's', version: '1.0.0', timeoutMs: 30_000,
  publicKeys: [${JSON.stringify(publicKey)}], hwid: 'machine-1',
  ${proxy ? `proxy: 'http://ada:secret@127.0.0.1:${port}',` : ''}
})
keyward.license('KEY').catch((error) => console.log(error instanceof KeywardNetworkError, error.code))
`
const byImport = `import { Keyward, KeywardNetworkError } from '@keyward/sdk'`
const byRequire = `const { Keyward, KeywardNetworkError } = require('@keyward/sdk')`

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const repository = fileURLToPath(new URL('../../../', import.meta.url))
const released = (name: string) => join(repository, 'sdks/releases', version, name)

describe('the released SDKs of this version are built from these sources', () => {
  const hint = 'Raise the version and run `npm run sdk -- --release` (with --replace if it was never shipped)'
  const read = (path: string) => readFileSync(path, 'latin1').replaceAll('\r\n', '\n')

  test('TypeScript', () => {
    const file = released(`keyward-sdk-${version}.tgz`)
    expect(unpack('released', file), hint).toEqual(unpack('built', packed))
  })

  test('Python', async () => {
    const script: string = '../../../scripts/wheel.mjs'
    const { packWheel } = await import(script)
    const wheel: string = packWheel(folder)
    expect(wheel.slice(folder.length + 1)).toBe(`keyward-${version}-py3-none-any.whl`)
    const file = released(`keyward-${version}-py3-none-any.whl`)
    expect(readFileSync(file).equals(readFileSync(wheel)), hint).toBe(true)
  })

  test.each([
    ['C++', 'sdks/cpp/keyward.hpp', 'keyward-cpp'],
    ['C#', 'sdks/csharp/Keyward.cs', 'keyward-csharp'],
  ])('%s, which names the version', (_, source, name) => {
    const text = read(join(repository, source))
    expect(text).toContain(`"${name}/${version}"`)
    expect(read(released(basename(source))) === text, hint).toBe(true)
  })
})

test('every file that the READMEs install is one that a server of this version serves', () => {
  const readmes = ['README.md', 'packages/sdk/README.md', 'sdks/python/README.md', 'sdks/cpp/README.md']
  for (const readme of [...readmes, 'sdks/csharp/README.md', 'docs/client-protocol.md']) {
    const path = join(repository, readme)
    if (!existsSync(path)) continue
    const files = readFileSync(path, 'utf8').match(/\/sdk\/\d[^\s`)"]*/g) ?? []
    for (const file of files)
      expect(existsSync(join(repository, file.replace('/sdk/', 'sdks/releases/'))), file).toBe(true)
    for (const file of files) expect(file, readme).toContain(`/sdk/${version}/`)
  }
})

test.each([
  ['an ES module', 'module', byImport],
  ['a CommonJS module', 'commonjs', byRequire],
])('the packed SDK installs offline in an empty project and runs there from %s', async (_, type, load) => {
  const project = makeProject(type, { type })
  writeFileSync(join(project, 'program.js'), program(load, await closedPort()))
  expect(run(project, process.execPath, ['program.js']).trim()).toBe('true unreachable')
})

test('the build for browsers uses nothing of Node, and rejects the option proxy', async () => {
  const web = unpack('web', packed)['/package/dist/web.js']!
  expect(web).not.toContain('node:')
  const file = join(folder, 'web.mjs')
  writeFileSync(file, web)
  const { Keyward } = await import(pathToFileURL(file).href)
  const options = { baseUrl: 'https://licenses.example.com', appId: 'k3yw4rd1', secret: 's', version: '1' }
  expect(() => new Keyward({ ...options, publicKeys: [publicKey] })).not.toThrow()
  expect(() => new Keyward({ ...options, publicKeys: [publicKey], proxy: 'http://127.0.0.1:3128' })).toThrow(
    expect.objectContaining({ name: 'KeywardUsageError', code: 'invalid_options' }),
  )
})

describe.skipIf(!full)('with tools from the registry', () => {
  const typed = `${byImport}
import type { Result, UserData } from '@keyward/sdk'
export async function check(keyward: Keyward): Promise<string | undefined> {
  const result: Result<UserData> = await keyward.session()
  if (!result.ok) return result.code
  const user: string = result.user.username
  return user
}
export const isNetwork = (error: unknown): boolean => error instanceof KeywardNetworkError
`

  test.for([
    ['4.7.4', 'commonjs', { module: 'commonjs', moduleResolution: 'node' }],
    ['4.7.4', 'module', { module: 'node16', moduleResolution: 'node16' }],
    ['4.7.4', 'commonjs', { module: 'node16', moduleResolution: 'node16' }],
    ['5.0.4', 'module', { module: 'esnext', moduleResolution: 'bundler' }],
  ] as const)(
    'the types work with TypeScript %s in a %s project, %o',
    ([version, type, options], context) => {
      const name = `types-${version}-${type}-${options.moduleResolution}`
      const project = makeProject(name, { type })
      installTools(project, [`typescript@${version}`], context)
      const compilerOptions = {
        ...options,
        strict: true,
        target: 'es2020',
        lib: ['es2020'],
        types: [],
        noEmit: true,
      }
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['program.ts'] }),
      )
      writeFileSync(join(project, 'program.ts'), typed)
      run(project, process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
    },
  )

  test('it runs in Bun', async (context) => {
    const project = makeProject('bun', { type: 'module' })
    installTools(project, ['bun@1.4.5'], context)
    writeFileSync(join(project, 'program.js'), program(byImport, await closedPort()))
    expect(run(project, 'npx', ['bun', 'program.js']).trim()).toBe('true unreachable')
    writeFileSync(join(project, 'proxied.js'), program(byImport, await closedPort(), { proxy: true }))
    expect(run(project, 'npx', ['bun', 'proxied.js']).trim()).toBe('true unreachable')
  })

  test('it runs in Deno with no permission except to reach the server', async (context) => {
    const project = makeProject('deno', { type: 'module' })
    installTools(project, ['deno@2.9.6'], context)
    const port = await closedPort()
    writeFileSync(join(project, 'program.js'), program(byImport, port))
    const args = ['deno', 'run', '--no-prompt', '--node-modules-dir=manual', `--allow-net=127.0.0.1:${port}`]
    expect(run(project, 'npx', [...args, 'program.js']).trim()).toBe('true unreachable')
    writeFileSync(join(project, 'proxied.js'), program(byImport, port, { proxy: true }))
    expect(run(project, 'npx', [...args, 'proxied.js']).trim()).toBe('true unreachable')
  })
})
