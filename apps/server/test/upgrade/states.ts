// The landed states of before, as their commits in the history of this repository.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** The last three states before 1.1.0 that were released, which all say 1.0.0, and 1.1.0. */
export const landedStates = [
  'fc2f1ac231d646c755aeceb5df0e12c734bb8b05', // 2026-11-22, 0031-import-answers
  '92341b24ce868b8a0a15fc3be9aef6ab544088c7', // 2026-11-23, 0039-covered-releases
  'c1cff9f1a11135a13b1f75459cf11c67d2e2dba8', // 2026-11-23, 0049-notifications
  '81ec7c4abe1e03e3eae59ab7b82206188f4e4edc', // 2026-11-28, 0085-online, 1.1.0
]

export interface State {
  /** The first digits of its commit. */
  name: string
  main: string
  cli: string
  sdkVersion: string
  sdk: string
  /** The names of its migrations. */
  migrations: string[]
}

/** Installs the state of a commit into a folder below `scratch`, unless it is there already. */
export function install(commit: string, scratch: string): State {
  const folder = join(scratch, commit)
  const stamp = join(folder, '.installed')
  if (!existsSync(stamp)) {
    mkdirSync(folder, { recursive: true })
    const tree = readTree(commit)
    execFileSync('tar', ['-xf', '-', '-C', folder], { input: tree })
    const flags = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', flags, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    writeFileSync(stamp, '')
  }
  const at = (path: string) => join(folder, path)
  const source = readFileSync(at('packages/contract/src/sdk-version.ts'), 'utf8')
  const sdkVersion = /sdkVersion = '([^']+)'/.exec(source)?.[1] ?? ''
  return {
    name: commit.slice(0, 8),
    main: at('apps/server/src/main.mjs'),
    cli: at('apps/server/src/cli.mjs'),
    sdkVersion,
    sdk: at(`sdks/releases/${sdkVersion}/keyward-sdk-${sdkVersion}.tgz`),
    migrations: readdirSync(at('apps/server/src/db/migrations')).map((file) => file.replace(/\.ts$/, '')),
  }
}

function readTree(commit: string): Buffer {
  try {
    return execFileSync('git', ['-C', root, 'archive', commit], { maxBuffer: 1 << 30, stdio: 'pipe' })
  } catch (cause) {
    throw new Error(`The history has no ${commit}: this needs a clone with its whole history`, { cause })
  }
}
