// In the full run: it installs the packages of the examples again.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const examples = fileURLToPath(new URL('../..', import.meta.url))
const releases = fileURLToPath(new URL('../../../sdks/releases', import.meta.url))
const wheel: string = '../../../scripts/wheel.mjs'
const { unzip } = await import(wheel)
const run = promisify(execFile)

let folder: string
let registry: Server
const asked: string[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copied-'))
  asked.length = 0
  registry = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(404).end('{}')
  })
  await once(registry.listen(0, '127.0.0.1'), 'listening')
})
afterEach(async () => {
  registry.close()
  await rm(folder, { recursive: true })
})

/** Installs a copy of an example outside of the repository, and returns what npm printed. */
async function install(example: string, ...packages: string[]): Promise<string> {
  const copy = join(folder, example)
  await cp(join(examples, example), copy, {
    recursive: true,
    filter: (path) => basename(path) !== 'node_modules',
  })
  const { port } = registry.address() as AddressInfo
  const options = [
    '--no-audit',
    '--no-fund',
    `--registry=http://127.0.0.1:${port}`,
    `--cache=${folder}/cache`,
  ]
  const { stdout } = await run('npm', ['install', ...packages, ...options], { cwd: copy })
  return stdout
}

it.each(['protected-cli', 'protected-backend'])(
  '%s installs the SDK of the vendor outside of the repository, and asks no registry',
  async (example) => {
    await install(example).catch(() => {})
    expect(asked).toEqual([])
    const [{ version }] = JSON.parse(await readFile(join(releases, 'index.json'), 'utf8'))
    const packed = join(folder, `keyward-sdk-${version}.tgz`)
    await writeFile(packed, unzip(await readFile(join(releases, `${version}.zip`)))[basename(packed)])
    await install(example, packed)
    const sdk = JSON.parse(
      await readFile(join(folder, example, 'node_modules/@keyward/sdk/package.json'), 'utf8'),
    )
    expect(sdk.version).toBe(version)
    expect(asked).toEqual([])
  },
)

/** Packages that the registry is meant to resolve. */
const ofOthers = ['openapi-fetch', 'openapi-typescript', 'typescript']

it('names no package of Keyward that a public registry could resolve, in any language', async () => {
  for (const example of await readdir(examples)) {
    for (const name of await readdir(join(examples, example))) {
      if (!/^package\.json$|\.csproj$|^requirements.*\.txt$|^pyproject\.toml$|^CMakeLists\.txt$/.test(name))
        continue
      const text = await readFile(join(examples, example, name), 'utf8')
      expect([`${example}/${name}`, text.match(/PackageReference|FetchContent/)]).toEqual([
        `${example}/${name}`,
        null,
      ])
      if (name !== 'package.json') continue
      const { dependencies = {}, devDependencies = {} } = JSON.parse(text)
      const specs = Object.entries<string>({ ...dependencies, ...devDependencies })
      const resolved = specs.filter(([, spec]) => !spec.startsWith('file:')).map(([name]) => name)
      expect(resolved.filter((name) => !ofOthers.includes(name))).toEqual([])
    }
  }
})
