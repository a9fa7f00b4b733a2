import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../../scripts/words.mjs', import.meta.url))

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keyward-words-'))
  for (const folder of ['apps', 'bench', 'e2e', 'examples', 'scripts', 'sdks']) mkdirSync(join(root, folder))
  for (const name of ['contract', 'payment-stand-in', 'sdk'])
    mkdirSync(join(root, 'packages', name), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

function check(text: string): { status: number | null; stdout: string } {
  writeFileSync(join(root, 'apps/a.ts'), `${text}\n`)
  return spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
}

const named = 'a name says what its value is'
const begun = 'a comment begins with its subject'

test.each([
  [named, 'const given = 1'],
  [named, 'export function f(given: number) {}'],
  [named, 'export function f(\n  given: number,\n) {}'],
  [named, 'const f = (...given) => given'],
  [named, 'const { a, given } = b'],
  [named, 'const { a: given } = b'],
  [named, "const f = (a = 'x', given = 'y') => a"],
  [begun, '/** Of the app. */'],
  [begun, '/**\n * Those that the app shows.\n */'],
  [begun, '  // Beside the app.'],
  [begun, '    /// <summary>Of the app.</summary>'],
  [begun, '    #: Those that the app shows.'],
])('rejects, as %s: %s', (rule, text) => {
  const { status, stdout } = check(text)
  expect(status).toBe(1)
  expect(stdout).toContain('apps/a.ts:')
  expect(stdout).toContain(`rule: ${rule}`)
})

test.each([
  'const key = { text: "not given: a key", given2: 1 }',
  "throw new Error('a key (given)')",
  '// A key that was given: it stays.',
  '/** The key (given, or made). */',
  '<p>The quota you were given, and the key.</p>',
  '/** A key.\n * Of two, the first. */',
  '// The first\n// Of May is a date.',
])('accepts %s', (text) => {
  expect(check(text)).toMatchObject({ status: 0, stdout: '' })
})
