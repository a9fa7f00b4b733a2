// Puts staged content into a Debian package, which dpkg-deb builds.
import { chmodSync, copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../ensure.mjs'
import { runOrThrow } from './packages.mjs'

export const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }
const programs = ['postinst', 'prerm', 'postrm']

/** Builds `file` from the content in `staged`, which it takes, in an empty folder. */
export function buildDeb({ folder, staged, file, version, platform, seconds }) {
  const target = (path) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    return join(folder, path)
  }
  renameSync(staged, target('usr/lib/keyward'))
  const add = (source, path, mode = 0o644) => {
    copyFileSync(join(root, source), target(path))
    chmodSync(join(folder, path), mode)
  }
  add('deploy/debian/keyward', 'usr/bin/keyward', 0o755)
  add('deploy/debian/keyward.env', 'etc/keyward/keyward.env')
  add('deploy/systemd/keyward.service', 'usr/lib/systemd/system/keyward.service')
  add('LICENSE', 'usr/share/doc/keyward/copyright')
  runOrThrow('chmod', ['-R', 'u=rwX,go=rX', folder])
  for (const name of programs) add(`deploy/debian/${name}`, `DEBIAN/${name}`, 0o755)
  writeFileSync(target('DEBIAN/conffiles'), '/etc/keyward/keyward.env\n')
  const size = runOrThrow('du', ['-sk', folder]).split('\t')[0]
  writeFileSync(target('DEBIAN/control'), controlOf({ version, size, architecture: architectures[platform] }))
  runOrThrow('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', folder, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
  })
}

const controlOf = ({ version, size, architecture }) => `Package: keyward
Version: ${version}
Architecture: ${architecture}
Maintainer: Keyward <no-reply@localhost>
Installed-Size: ${size}
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1, libatomic1, passwd, init-system-helpers
Section: net
Priority: optional
Description: Licensing and authentication server for software vendors
 Issues license keys, gives resellers quotas and manages end users whose
 licenses are locked to their hardware; programs check over a signed API
 whether their user may run them. Contains its runtime.
`
