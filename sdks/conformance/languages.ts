import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { amalgamate } from '../amalgamate.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = join(root, 'node_modules', '.cache', 'keyward-conformance')
const at = (...parts: string[]) => join(root, 'sdks', ...parts)
const execute = promisify(execFile)

export const languageNames = ['typescript', 'python', 'cpp', 'csharp'] as const
export type LanguageName = (typeof languageNames)[number]

export interface Language {
  name: LanguageName
  /** Why no program of this language can run here; undefined if one can. */
  missing: string | undefined
  /** Builds the adapter unless it is up to date, and resolves to its command. */
  command(): Promise<string[]>
}

const runs = (file: string, args: string[], input = '') =>
  spawnSync(file, args, { input, stdio: ['pipe', 'ignore', 'ignore'] }).status === 0

export const hasHeader = (name: string) =>
  runs('g++', ['-std=c++17', '-fsyntax-only', '-xc++', '-'], `#include <${name}>\n`)

const find: Record<LanguageName, () => Omit<Language, 'name'>> = {
  typescript: () => ({
    missing: undefined,
    command: async () => [process.execPath, '--no-warnings', at('conformance', 'typescript.ts')],
  }),

  python() {
    const script = at('python', 'conformance.py')
    const python = ['/usr/bin/python3', 'python3', 'python'].find((each) =>
      runs(each, ['-c', 'import cryptography']),
    )
    return {
      missing: python === undefined ? 'no Python with cryptography' : absent(script),
      command: async () => [python!, script],
    }
  },

  cpp() {
    const source = at('cpp', 'conformance.cpp')
    return {
      missing: hasHeader('curl/curl.h') ? absent(source) : 'no g++ with libcurl',
      command: async () => [await buildCpp('conformance', [], ['sdks/cpp/conformance.cpp'])],
    }
  },

  csharp() {
    const source = at('csharp', 'Conformance.cs')
    const compiles = runs('mcs', ['--version']) && runs('mono', ['--version'])
    return {
      missing: compiles ? absent(source) : 'no mcs or no mono',
      command: async () => ['mono', await buildCsharp('Conformance')],
    }
  },
}

export const cppFlags = ['-std=c++17', '-Wall', '-Wextra', '-Werror']

/** Builds a C++ program with the SDK; `folders` hold more of its sources. */
export const buildCpp = (
  name: string,
  flags: string[],
  files: string[],
  { folders = [], libraries = [] }: { folders?: string[]; libraries?: string[] } = {},
) =>
  build(
    'cpp',
    name,
    (target) => [
      ...['g++', ...cppFlags, `-I${dirname(amalgamate('cpp'))}`, '-O1', ...flags, ...files],
      ...['-o', target, '-lcurl', '-pthread', ...libraries],
    ],
    folders,
  )

export const csharpFlags = [
  ...['-langversion:7', '-warnaserror', '-optimize'],
  ...['System.Net.Http', 'System.Numerics', 'System.Core'].map((each) => `-r:${each}.dll`),
]

/** Compiles a program in `sdks/csharp` together with the SDK. */
export const buildCsharp = (name: string): Promise<string> =>
  build('csharp', `${name}.exe`, (target) => [
    ...['mcs', ...csharpFlags, `-out:${target}`],
    ...[at('csharp', `${name}.cs`), amalgamate('csharp')],
  ])

export const findLanguage = (name: LanguageName): Language => ({ name, ...find[name]() })

const absent = (file: string) => (existsSync(file) ? undefined : 'no SDK yet')

/** Compiles once per state of the sources, also when several test files ask at the same time. */
export async function build(
  folder: string,
  name: string,
  toCommand: (target: string) => string[],
  more: string[] = [],
): Promise<string> {
  const digest = createHash('sha256').update(toCommand('').join(' '))
  for (const file of [at(folder), ...more.map((each) => join(root, each))].flatMap(sources))
    digest.update(file).update(readFileSync(file))
  const target = join(cache, `${folder}-${digest.digest('hex').slice(0, 16)}`, name)
  mkdirSync(dirname(dirname(target)), { recursive: true })
  mkdirSync(dirname(target), { recursive: true })
  const lock = `${target}.lock`
  while (!existsSync(target)) {
    if (!take(lock)) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      continue
    }
    try {
      const draft = join(dirname(target), `draft-${process.pid}-${name}`)
      const [file, ...args] = toCommand(draft) as [string, ...string[]]
      await execute(file, args, { cwd: root, maxBuffer: 16 * 1024 * 1024 })
      renameSync(draft, target)
    } finally {
      rmdirSync(lock)
    }
  }
  return target
}

const staleMs = 10 * 60_000

function take(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > staleMs) rmdirSync(lock)
    return false
  }
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:cpp|hpp|h|cs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
