// Fills a folder with everything that a server needs to run, for one platform: the content of an archive and of a Debian package.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../ensure.mjs'
import { copyPackage, factsOf, neededPackages, platforms } from './packages.mjs'
import { noticesOf, sbomOf } from './papers.mjs'

const files = [
  ...['apps/server/package.json', 'apps/server/src', 'apps/console/dist', 'packages/contract/package.json'],
  ...['packages/contract/src', 'sdks/releases', 'docs', 'deploy', 'LICENSE', 'README.md', 'CHANGELOG.md'],
  'SECURITY.md',
]
const isShipped = (path) => !/\.test\.ts$|\/docs\/(adr|screenshots)$|\/\.built-from$/.test(path)

/** Builds of native code are for one platform each. */
const isOfPlatform = (platform) => (path) => {
  const build = /\/prebuilds\/([^/]+)/.exec(path)?.[1]
  return build === undefined || build === platform
}

/** @param {string} folder an empty one */
export function stage(folder, platform) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const file of files)
    cpSync(join(root, file), join(folder, file), { recursive: true, filter: isShipped })
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ name: 'keyward', version, private: true, license: 'Apache-2.0', type: 'module' }, null, 2)}\n`,
  )
  mkdirSync(join(folder, 'bin'))
  copyFileSync(join(root, 'deploy/keyward.sh'), join(folder, 'bin/keyward'))
  chmodSync(join(folder, 'bin/keyward'), 0o755)
  const runtime = addRuntime(folder, platform)
  const packages = neededPackages(platform).filter((at) => !addLink(folder, at))
  for (const at of packages) copyPackage(at, join(folder, at), isOfPlatform(platform))
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf(folder, packages, runtime))
  const sbom = sbomOf(folder, { version, packages, runtime, platform })
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`)
  return { version }
}

function addRuntime(folder, platform) {
  const at = `node_modules/${platforms[platform]}`
  const isUsed = (path) => !/\/(include|share|CHANGELOG\.md)$/.test(path)
  const whole = join(folder, 'runtime.whole')
  copyPackage(at, whole, isUsed)
  mkdirSync(join(folder, 'runtime'))
  copyFileSync(join(whole, 'bin/node'), join(folder, 'runtime/node'))
  chmodSync(join(folder, 'runtime/node'), 0o755)
  copyFileSync(join(whole, 'LICENSE'), join(folder, 'runtime/LICENSE'))
  rmSync(whole, { recursive: true })
  return factsOf(at)
}

/** A package of this repository keeps its folder: Node runs no TypeScript below node_modules. */
function addLink(folder, at) {
  const { link, resolved } = factsOf(at)
  if (!link) return false
  mkdirSync(dirname(join(folder, at)), { recursive: true })
  symlinkSync(`${'../'.repeat(at.split('/').length - 1)}${resolved}`, join(folder, at))
  return true
}
