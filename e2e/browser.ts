import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import chromium, { inflate, setupLambdaEnvironment } from '@sparticuz/chromium'

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** Ends the run with one line if no browser can run. */
export async function browserPath(): Promise<string> {
  const path = process.env.CHROMIUM_PATH ?? (await installedBrowser())
  const fault = findFault(path)
  if (fault === undefined) return path
  console.error(fault)
  process.exit(1)
}

/** Prefers the packaged browser: it has no windows, so a journey takes a third less processor time than in a whole one. */
async function installedBrowser(): Promise<string> {
  const candidates = process.platform === 'linux' ? [await chromium.executablePath(), ...usual] : usual
  const found = candidates.find((path) => existsSync(path) && findFault(path) === undefined)
  if (found !== undefined) return found
  const packaged = await chromium.executablePath()
  await addLibraries()
  return packaged
}

/** The packaged browser includes the libraries that servers without a desktop lack. */
async function addLibraries(): Promise<void> {
  if (process.platform !== 'linux') return
  const folder = join(tmpdir(), 'al2023')
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  if (!existsSync(folder)) await inflate(join(dirname(entry), '..', 'bin', 'al2023.tar.br'))
  setupLambdaEnvironment(join(folder, 'lib'))
}

/** Why a browser does not run, in one line; undefined if it runs. */
export function findFault(path: string): string | undefined {
  // Chrome on Windows starts a window for --version.
  if (process.platform === 'win32' && existsSync(path)) return undefined
  const { error, status, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 30_000 })
  if (status === 0) return undefined
  const missing = missingIn(spawnSync('ldd', [path], { encoding: 'utf8' }).stdout ?? '')
  const advice =
    'Install Chromium (Debian and Ubuntu: apt-get install chromium), or set CHROMIUM_PATH to a browser.'
  if (missing.length > 0)
    return `The browser tests cannot run: ${path} lacks ${missing.join(', ')}. ${advice}`
  const reason = error?.message ?? stderr.trim().split('\n')[0] ?? `exit code ${status}`
  return `The browser tests cannot run: ${path} does not start (${reason}). ${advice}`
}

/** The libraries that `ldd` reports as missing. */
export const missingIn = (output: string): string[] => [
  ...new Set([...output.matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1] ?? '')),
]
