// Installs, starts, upgrades and removes the archive and the Debian package in an empty Debian without a network, and builds and
// runs the container. Needs root, debootstrap, buildah and a Debian mirror.
//   npm run package-test
//   npm run package-test -- container       one of them: packages or container
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureConsole, ensureInstalled, nodePath, root, run } from './ensure.mjs'
import { testContainer } from './package/container.mjs'

const [only] = process.argv.slice(2)
if (![undefined, 'packages', 'container'].includes(only)) {
  console.error('It tests packages or container, or without an argument both.')
  process.exit(1)
}
ensureInstalled({ dev: false })
const tools = [
  'debootstrap',
  ...(only === 'container' ? [] : ['dpkg-deb', 'unshare', 'ip']),
  ...(only === 'packages' ? [] : ['buildah', 'setpriv', 'nsenter']),
]
const missing = tools.filter((name) => spawnSync('which', [name]).status !== 0)
if (process.getuid?.() !== 0) missing.unshift('root')
if (missing.length > 0) {
  console.error(`The packages cannot be installed here: this needs ${missing.join(', ')}.`)
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'keyward-root-'))
const empty = join(folder, 'root')
// Every account of the empty system has to reach its root.
mkdirSync(empty, { mode: 0o755 })
try {
  process.exitCode = await test()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function test() {
  // The runtime needs libatomic1, which the Debian package depends on.
  const base = spawnSync('debootstrap', ['--variant=minbase', '--include=libatomic1', 'bookworm', empty])
  if (base.status !== 0) {
    console.error(`debootstrap failed: ${base.stderr}${String(base.stdout).slice(-500)}`)
    return 1
  }
  if (only !== 'packages') {
    await ensureConsole()
    await testContainer(join(folder, 'containers'), empty)
  }
  return only === 'container' ? 0 : testPackages()
}

async function testPackages() {
  const script = join(root, 'scripts/package.mjs')
  for (const args of [[], ['--deb'], ['--deb', '--revision', '2']]) {
    const code = await run([script, ...args])
    if (code !== 0) return code
  }
  mkdirSync(join(empty, 'packages'))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const name of readdirSync(join(root, 'dist')).filter((name) => name.includes(version)))
    copyFileSync(join(root, 'dist', name), join(empty, 'packages', name))
  copyFileSync(nodePath(), join(empty, 'driver'))
  copyFileSync(join(root, 'scripts/package/in-empty-root.mjs'), join(empty, 'driver.mjs'))
  const inside = `ip link set lo up && mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive /driver /driver.mjs`
  const flags = ['--mount', '--net', '--pid', '--uts', '--ipc', '--fork', '--kill-child']
  const { status } = spawnSync('unshare', [...flags, 'sh', '-c', inside, empty], { stdio: 'inherit' })
  return status ?? 1
}
