import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { namesIn, packageOf, toNotices } from './notices.ts'

const modules = mkdtempSync(join(tmpdir(), 'keyward-notices-'))
afterAll(() => rmSync(modules, { recursive: true, force: true }))

function write(path: string, text: string) {
  mkdirSync(dirname(join(modules, path)), { recursive: true })
  writeFileSync(join(modules, path), text)
}

const writePackage = (name: string) =>
  write(`${name}/package.json`, JSON.stringify({ version: '1.2.3', license: 'MIT' }))

test('finds the package of modules, files and helpers of the bundler', () => {
  expect(packageOf('/a/node_modules/react/index.js')).toBe('react')
  expect(packageOf('../../node_modules/@scope/font/files/a.woff2')).toBe('@scope/font')
  expect(packageOf('/a/node_modules/outer/node_modules/inner/index.js')).toBe('inner')
  expect(packageOf('C:\\a\\node_modules\\react\\index.js')).toBe('react')
  expect(packageOf('\0vite/preload-helper.js')).toBe('vite')
  expect(packageOf('/a/apps/console/src/main.tsx')).toBeUndefined()
  expect(packageOf('\0virtual:wire')).toBeUndefined()
})

test('repeats all license files of each package once', () => {
  writePackage('@scope/one')
  write('@scope/one/LICENCE.md', 'license of one')
  write('@scope/one/NOTICE', 'notice of one')
  writePackage('two')
  write('two/license.txt', 'license of two')
  const text = toNotices(['two', '@scope/one', 'two'], modules)
  expect(
    text
      .split(`\n${'-'.repeat(80)}\n`)
      .slice(1)
      .map((part) => part.trim()),
  ).toEqual([
    '@scope/one 1.2.3 (MIT)\n\nlicense of one\n\nnotice of one',
    'two 1.2.3 (MIT)\n\nlicense of two',
  ])
  expect(namesIn(text)).toEqual(['@scope/one', 'two'])
})

test('rejects a package without a license text, and one whose license file is empty', () => {
  writePackage('bare')
  write('bare/index.js', '')
  expect(() => toNotices(['bare'], modules)).toThrow('bare is a part of the console')
  write('bare/LICENSE', '\n')
  expect(() => toNotices(['bare'], modules)).toThrow('has no license file (MIT)')
})
