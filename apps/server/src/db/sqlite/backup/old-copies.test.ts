import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { day } from '../../../core/clock.ts'
import { removeOldCopies } from './old-copies.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-copies-'))
const now = Date.UTC(2027, 0, 31)
const stamp = (days: number) => new Date(now - days * day).toISOString().replace(/[:.]/g, '-')

afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

function make(...days: number[]) {
  mkdirSync(join(dataDir, 'backups'), { recursive: true })
  for (const each of days) {
    writeFileSync(join(dataDir, 'backups', `before-migration-${stamp(each)}.db`), 'copy')
    mkdirSync(join(dataDir, `replaced-${stamp(each)}`))
    writeFileSync(join(dataDir, `replaced-${stamp(each)}`, 'keyward.db'), 'replaced')
  }
}

test('copies older than 30 days are deleted, but the newest three of each kind stay', () => {
  make(1, 20, 29, 31, 90)
  expect(removeOldCopies(dataDir, now)).toHaveLength(4)
  for (const kind of ['backups', '.']) {
    const names = readdirSync(join(dataDir, kind)).filter((name) => /^(before|replaced)-/.test(name))
    expect(names.map((name) => /\d{4}.*Z/.exec(name)?.[0]).sort()).toEqual([29, 20, 1].map(stamp))
  }
})

test('a clock that is years ahead leaves three copies of each kind', () => {
  make(1, 2, 3, 4)
  removeOldCopies(dataDir, now + 4000 * day)
  expect(readdirSync(join(dataDir, 'backups'))).toHaveLength(3)
})

test('backups of the operator and files with other names stay at any age', () => {
  make(400, 401, 402)
  const others = [
    'keyward-2020-01-01T00-00-00-000Z.tar',
    'before-migration-.db',
    'before-migration-2020.db',
    'note.txt',
  ]
  for (const name of others) writeFileSync(join(dataDir, 'backups', name), 'mine')
  expect(removeOldCopies(dataDir, now)).toEqual([])
  expect(readdirSync(join(dataDir, 'backups'))).toEqual(expect.arrayContaining(others))
})
