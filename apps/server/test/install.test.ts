import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const scripts = fileURLToPath(new URL('../../../scripts', import.meta.url))
let root: string

/** Creates a project with the real scripts, an installed stamp, and stand-ins for Vite and the server. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keyward install '))
  cpSync(scripts, join(root, 'scripts'), { recursive: true })
  const lock = '{ "lockfileVersion": 3 }'
  const digest = createHash('sha256').update(lock).digest('hex')
  const files = {
    'package.json': '{ "type": "module" }',
    'package-lock.json': lock,
    'packages/contract/index.ts': '',
    'examples/automation/receivers/receiver.mjs': '',
    'apps/console/prerender.mjs': '',
    'apps/server/src/main.mjs': "import fs from 'node:fs'; fs.writeFileSync('started', '')",
    'node_modules/vite/bin/vite.js': "import fs from 'node:fs'; fs.mkdirSync('dist')",
    'node_modules/.keyward-installed': `${digest} run`,
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
})
afterEach(() => {
  chmodSync(root, 0o700)
  rmSync(root, { recursive: true, force: true })
})

const script = () => join(root, 'scripts/start.mjs')
const isBuilt = () => existsSync(join(root, 'apps/console/dist/.built-from'))
const hasStarted = () => existsSync(join(root, 'started'))

test('npm start -- --install builds the console and starts no server', () => {
  execFileSync(process.execPath, [script(), '--install'], { stdio: 'pipe' })
  expect([isBuilt(), hasStarted()]).toEqual([true, false])
  execFileSync(process.execPath, [script()], { stdio: 'pipe' })
  expect(hasStarted()).toBe(true)
})

test.skipIf(process.platform === 'win32').for(['to install', 'to build'])(
  'an account that cannot write to the installation gets one line when there is something %s',
  (what, { skip }) => {
    const other = process.getuid?.() === 0 ? { uid: 65_534 } : {}
    // Root can write everywhere, so the command runs as another account, which may not be able to run this Node.
    if (spawnSync(process.execPath, ['--version'], { cwd: '/', ...other }).status !== 0) return skip()
    const stamp = join(root, 'node_modules/.keyward-installed')
    if (what === 'to install') writeFileSync(stamp, readFileSync(stamp, 'utf8').replace('run', 'of before'))
    chmodSync(root, 0o555)
    const { status, stdout, stderr } = spawnSync(process.execPath, [script()], { encoding: 'utf8', ...other })
    expect([status, stdout, stderr.trimEnd().split('\n').length]).toEqual([1, '', 1])
    expect(stderr).toContain(`cannot write to ${root}. Run "npm start -- --install" there`)
  },
)
