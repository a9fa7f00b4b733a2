import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from '../src/core/version.ts'
import { migrations } from '../src/db/migrations/index.ts'

const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
const [newest = '', ...older] = changelog.split(/^## /m).slice(1)

test('the newest entry of the changelog is that of this version, and names its day', () => {
  expect(newest).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n/)
  expect(newest.split(' ')[0]).toBe(version)
})

test('it names the newest migration, so that a change of the schema needs an entry', () => {
  expect(/^Schema: (\S+)$/m.exec(newest)?.[1]).toBe(migrations.at(-1)?.name)
})

test('versions descend', () => {
  const versions = [newest, ...older].map((entry) => entry.split(/\s/)[0] ?? '')
  const descending = [...versions].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  expect(versions).toEqual(descending)
  expect(new Set(versions).size).toBe(versions.length)
})
