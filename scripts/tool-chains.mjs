// Compilers and runtimes for the SDKs and examples in other languages. The tests of a language are skipped where they are missing.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const toolChains = {
  Python: ['python3', 'python3-cryptography'],
  PHP: ['php-cli'],
}
/** For tests of the full run. */
const compilers = {
  'C++': ['g++', 'libcurl4-openssl-dev', 'libsodium-dev'],
  'C#': ['mono-mcs', 'mono-runtime', 'libmono-system-net-http4.0-cil', 'libmono-system-numerics4.0-cil'],
  'C++ for Windows': ['g++-mingw-w64-x86-64-posix'],
}
const commandMs = 180_000

/** Installs what is missing from Debian's packages, as root in CI; does nothing elsewhere. */
export async function installToolChains(isFull) {
  if (process.env.CI === undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  const missing = Object.entries({ ...toolChains, ...(isFull && compilers) }).filter(
    ([, packages]) => !packages.every(isInstalled),
  )
  if (missing.length === 0) return
  await aptGet('update')
  for (const [language, packages] of missing) {
    const installed = await aptGet('install', '-y', '--no-install-recommends', ...packages)
    if (!installed) console.log(`${language} could not be installed: its tests are skipped`)
  }
}

function isInstalled(name) {
  const { stdout } = spawnSync('dpkg-query', ['-s', name], { encoding: 'utf8' })
  return stdout.includes('Status: install ok installed')
}

/** Resolves to whether the command succeeded. */
function aptGet(...args) {
  return new Promise((resolve) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const child = spawn('/usr/bin/apt-get', args, { stdio: 'ignore', env, timeout: commandMs })
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
  })
}
