import { execFile, execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { isFull } from '../../../apps/server/test/rounds.ts'
import { amalgamate } from '../../../sdks/amalgamate.ts'
import { type RealServer, signUpVendor, startRealServer, type TestApp } from './real-server.ts'
import { startProxy } from './stand-in-proxy.ts'

/** Compilers and other runtimes come from the registry, so only the full run of CI installs them. */
const full = isFull && process.env.CI !== undefined

let folder: string
let packed: string
let server: RealServer
let app: TestApp
let keys: object[]
let licenseKey: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-sdk-'))
  const script: string = '../../../scripts/ensure.mjs'
  const { packSdk } = await import(script)
  packed = packSdk(folder)
  server = await startRealServer()
  const vendor = await signUpVendor(server)
  ;({ app, keys } = vendor)
  const { license } = await vendor.owner('POST', '/licenses', { app: app._id, expiresAt: null })
  licenseKey = license.key
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

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

/** Runs a program while the server of this process answers it. */
async function start(cwd: string, file: string, args: string[]): Promise<string> {
  const options = { cwd, encoding: 'utf8', shell: process.platform === 'win32' } as const
  return (await promisify(execFile)(file, args, options)).stdout.trim()
}

const strangersKey = {
  ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
  kid: 'k',
}

/** Signs in, once with the keys of the app and once with the key of a stranger, which must reject the same answer. */
const program = (load: string, proxy?: string) => `${load}
async function main() {
  const options = {
    baseUrl: '${server.baseUrl}', appId: '${app.appId}', secret: '${app.appSecret}', version: '1.0.0', timeoutMs: 30_000,
    hwid: 'machine-1', ${proxy === undefined ? '' : `proxy: '${proxy}',`}
  }
  const { ok } = await new Keyward({ ...options, publicKeys: ${JSON.stringify(keys)} }).license('${licenseKey}')
  const other = new Keyward({ ...options, publicKeys: [${JSON.stringify(strangersKey)}] })
  const error = await other.license('${licenseKey}').catch((error) => error)
  console.log(ok, error instanceof KeywardSignatureError)
}
main()
`
const byImport = `import { Keyward, KeywardNetworkError, KeywardSignatureError } from '@keyward/sdk'`
const byRequire = `const { Keyward, KeywardNetworkError, KeywardSignatureError } = require('@keyward/sdk')`

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const repository = fileURLToPath(new URL('../../../', import.meta.url))
const wheel: string = '../../../scripts/wheel.mjs'
const { packWheel, unzip } = await import(wheel)
const unpacked = (releases: string) => unzip(readFileSync(join(releases, `${version}.zip`)))
const released = (name: string) => {
  const path = join(mkdtempSync(join(folder, 'released-')), name)
  writeFileSync(path, unpacked(join(repository, 'sdks/releases'))[name])
  return path
}

/** The files without the names of refusals: a new one needs no release, because SDKs pass on codes that they do not know. */
function withoutCodes<Content>(files: Record<string, Content>): Record<string, Content> {
  const isCode = (path: string) => /(^|\/)codes\.(d\.c?ts|py)$|\/RECORD$/.test(path)
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isCode(path)))
}

describe('the released SDKs of this version are built from these sources', () => {
  const hint = 'Raise the version and run `npm run sdk -- --release` (with --replace if it was never shipped)'

  test('TypeScript', () => {
    const file = released(`keyward-sdk-${version}.tgz`)
    expect(withoutCodes(unpack('released', file)), hint).toEqual(withoutCodes(unpack('built', packed)))
  })

  test('Python', async () => {
    const files = (path: string) => withoutCodes(unzip(readFileSync(path)))
    const wheel: string = packWheel(folder)
    expect(basename(wheel)).toBe(`keyward-${version}-py3-none-any.whl`)
    expect(files(released(basename(wheel))), hint).toEqual(files(wheel))
  })

  test.each([
    ['C++', 'cpp', 'keyward-cpp'],
    ['C#', 'csharp', 'keyward-csharp'],
  ] as const)('%s, which names the version', (_, language, name) => {
    const file = amalgamate(language)
    const read = (path: string) =>
      readFileSync(path, 'utf8').replace(/( +\/\/ LicenseState\.cs\n)[\s\S]*?(?=\n +\/\/ \w+\.cs\n)/, '$1')
    expect(read(file)).toContain(`"${name}/${version}"`)
    expect(read(released(basename(file))) === read(file), hint).toBe(true)
  })
})

test('a release has the SDKs and what vendors read beside them, and the check of published files accepts it', () => {
  const into = join(folder, 'released')
  const script = (name: string, ...args: string[]) =>
    execFileSync(process.execPath, [join(repository, 'scripts', name), ...args], { encoding: 'utf8' })
  script('sdk.mjs', '--release', `--into=${into}`)
  const [{ files, documents }] = JSON.parse(readFileSync(join(into, 'index.json'), 'utf8'))
  expect(files).toHaveLength(4)
  const packed = unpacked(into)
  const read = (name: string) => Buffer.from(packed[name])
  for (const { name } of [...files, ...documents]) expect(read(name).length).toBeGreaterThan(1_000)
  expect(read('client-protocol.md').equals(readFileSync(join(repository, 'docs/client-protocol.md')))).toBe(
    true,
  )
  const zip = read(`keyward-vectors-${version}.zip`)
  expect(zip.toString('latin1')).toContain('vectors/offline.json')
  script('published.mjs', into)
})

test('every file that the READMEs install is one that a server of this version serves', () => {
  const served = Object.keys(unpacked(join(repository, 'sdks/releases'))).map(
    (name) => `/sdk/${version}/${name}`,
  )
  const readmes = ['README.md', 'packages/sdk/README.md', 'sdks/python/README.md', 'sdks/cpp/README.md']
  for (const readme of [...readmes, 'sdks/csharp/README.md', 'docs/client-protocol.md']) {
    const path = join(repository, readme)
    if (!existsSync(path)) continue
    const files = readFileSync(path, 'utf8').match(/\/sdk\/\d[^\s`)"]*/g) ?? []
    for (const file of files) expect(served, readme).toContain(file)
  }
})

test.each([
  ['an ES module', 'module', byImport],
  ['a CommonJS module', 'commonjs', byRequire],
])(
  'the packed SDK installs offline in an empty project and verifies answers there from %s',
  async (_, type, load) => {
    const project = makeProject(type, { type })
    writeFileSync(join(project, 'program.js'), program(load))
    expect(await start(project, process.execPath, ['program.js'])).toBe('true true')
  },
)

test('the build for browsers uses nothing of Node, and rejects the option proxy', async () => {
  const web = unpack('web', packed)['/package/dist/web.js']!
  expect(web).not.toContain('node:')
  const file = join(folder, 'web.mjs')
  writeFileSync(file, web)
  const { Keyward } = await import(pathToFileURL(file).href)
  const options = { baseUrl: 'https://licenses.example.com', appId: 'k3yw4rd1', secret: 's', version: '1' }
  expect(() => new Keyward({ ...options, publicKeys: [strangersKey] })).not.toThrow()
  expect(
    () => new Keyward({ ...options, publicKeys: [strangersKey], proxy: 'http://127.0.0.1:3128' }),
  ).toThrow(expect.objectContaining({ name: 'KeywardUsageError', code: 'invalid_options' }))
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

  test('it verifies answers in Bun, also through a proxy', async (context) => {
    const project = makeProject('bun', { type: 'module' })
    installTools(project, ['bun@1.4.5'], context)
    await using proxy = await openProxy()
    writeFileSync(join(project, 'program.js'), program(byImport))
    writeFileSync(join(project, 'proxied.js'), program(byImport, proxy.url))
    expect(await start(project, 'npx', ['bun', 'program.js'])).toBe('true true')
    expect(await start(project, 'npx', ['bun', 'proxied.js'])).toBe('true true')
    expect(proxy.seen()).toBeGreaterThan(0)
  })

  test('it verifies answers in Deno with no permission except to reach the server or the proxy', async (context) => {
    const project = makeProject('deno', { type: 'module' })
    installTools(project, ['deno@2.9.6'], context)
    await using proxy = await openProxy()
    writeFileSync(join(project, 'program.js'), program(byImport))
    writeFileSync(join(project, 'proxied.js'), program(byImport, proxy.url))
    const allowed = (url: string) => [
      ...['deno', 'run', '--no-prompt', '--node-modules-dir=manual'],
      `--allow-net=${new URL(url).host}`,
    ]
    expect(await start(project, 'npx', [...allowed(server.baseUrl), 'program.js'])).toBe('true true')
    expect(await start(project, 'npx', [...allowed(proxy.url), 'proxied.js'])).toBe('true true')
    expect(proxy.seen()).toBeGreaterThan(0)
  })

  async function openProxy() {
    const proxy = await startProxy({ credentials: 'ada:secret' })
    return {
      url: `http://ada:secret@${proxy.address}`,
      seen: () => proxy.seen.length,
      [Symbol.asyncDispose]: () => proxy.close(),
    }
  }
})
