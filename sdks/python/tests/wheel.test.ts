import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findLanguage } from '../../conformance/languages.ts'

const { missing, command } = findLanguage('python')
const execute = promisify(execFile)

let folder: string
let wheel: string
const pack = async (name: string): Promise<string> => {
  const script: string = '../../../scripts/wheel.mjs'
  const { packWheel } = await import(script)
  mkdirSync(join(folder, name))
  return packWheel(join(folder, name))
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-wheel-'))
  wheel = await pack('one')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the wheel has the name that installers expect, and the same bytes in every build', async () => {
  expect(basename(wheel)).toBe(`keyward-${sdkVersion}-py3-none-any.whl`)
  expect(readFileSync(await pack('two'))).toEqual(readFileSync(wheel))
})

describe.skipIf(missing !== undefined)('the wheel', () => {
  let python: string
  beforeAll(async () => {
    python = (await command())[0]!
  })

  /** Imports the installed package alone and returns what it says about itself. */
  function inspect(target: string): { version: string; file: string; licensed: boolean; requires: string[] } {
    const program = `
import importlib.metadata, json, keyward
distribution = importlib.metadata.distribution("keyward")
files = [str(file) for file in distribution.files]
assert "keyward/py.typed" in files, files
assert all(file.locate().is_file() for file in distribution.files), files
keyward.Keyward(base_url="https://x", app_id="app12345", secret="s", version="1", public_keys={
    "kty": "OKP", "crv": "Ed25519", "kid": "k", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
print(json.dumps({"version": distribution.version, "file": keyward.__file__,
    "licensed": "Apache License" in distribution.read_text("LICENSE"), "requires": distribution.requires}))`
    const env = { ...process.env, PYTHONPATH: target, PYTHONDONTWRITEBYTECODE: '1' }
    return JSON.parse(execFileSync(python, ['-c', program], { cwd: folder, env, encoding: 'utf8' }))
  }

  const expected = (target: string) => ({
    version: sdkVersion,
    file: join(target, 'keyward', '__init__.py'),
    licensed: true,
    requires: ['cryptography>=38'],
  })

  it('is an archive without faults whose record names every file with its hash', () => {
    const program = `
import base64, csv, hashlib, io, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
names = archive.namelist()
assert len(names) == len(set(names))
record = next(name for name in names if name.endswith("/RECORD"))
rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
assert [row[0] for row in rows] == names, names
for name, hash, size in rows:
    if name == record: continue
    data = archive.read(name)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    assert hash == "sha256=" + digest and int(size) == len(data), name
modes = {entry.external_attr >> 16 for entry in archive.infolist()}
assert modes == {0o100644}, modes
`
    execFileSync(python, ['-c', program, wheel])
  })

  it('runs from an empty folder into which it was unpacked', () => {
    const target = join(folder, 'unpacked')
    execFileSync(python, ['-m', 'zipfile', '-e', wheel, target])
    expect(inspect(target)).toEqual(expected(target))
  })

  it('installs with pip from the address of a server', async ({ skip }) => {
    const hasPip = () => spawnSync(python, ['-m', 'pip', '--version']).status === 0
    if (!hasPip()) skip('no pip')
    const server = createServer((_, response) => response.end(readFileSync(wheel)))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    const target = join(folder, 'installed')
    const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex')
    const url = `http://127.0.0.1:${port}/sdk/${sdkVersion}/${basename(wheel)}#sha256=${hash}`
    const options = [
      '--no-deps',
      '--no-index',
      '--no-cache-dir',
      '--disable-pip-version-check',
      '--target',
      target,
    ]
    await execute(python, ['-m', 'pip', 'install', ...options, url], { cwd: folder })
    server.close()
    expect(inspect(target)).toEqual(expected(target))
  })
})
