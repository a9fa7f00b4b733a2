import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { CommitGroups } from './commit-groups.ts'
import { openSqlite } from './dialect.ts'
import { SqliteHandle } from './handle.ts'

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-commits-'))
  const path = join(folder, 'some.db')
  const { writer, reader } = openSqlite(path)
  const groups = new CommitGroups(writer, () => {})
  writer.database.exec('create table things (name text, kind text)')
  const otherProcess = new SqliteHandle(path, { readOnly: false })
  onTestFinished(async () => {
    await groups.close()
    for (const handle of [reader, writer, otherProcess]) handle.close()
    rmSync(folder, { recursive: true })
  })
  const add = (name: string) => `insert into things values ('${name}', 'small')`
  const commit = async (name: string) => {
    const transaction = await groups.begin(true)
    await transaction.run(add(name), [])
    await transaction.end('release')
  }
  const commitElsewhere = (name: string) => otherProcess.database.exec(add(name))
  return { reader, writer, add, commit, commitElsewhere }
}

test('counts a commit of this process before the caller learns of it', async () => {
  const { reader, commit } = open()
  const before = reader.countCommits()
  expect(reader.countCommits()).toBe(before)
  await commit('one')
  expect(reader.countCommits()).toBeGreaterThan(before)
})

test('counts a commit of another process by the next turn of the event loop', async () => {
  const { reader, commitElsewhere } = open()
  await nextTurn()
  const before = reader.countCommits()
  commitElsewhere('one')
  await nextTurn()
  expect(reader.countCommits()).toBeGreaterThan(before)
})

test('does not change without a commit, however many turns pass', async () => {
  const { reader } = open()
  await nextTurn()
  const before = reader.countCommits()
  for (let turn = 0; turn < 5; turn += 1) {
    await nextTurn()
    expect(reader.countCommits()).toBe(before)
  }
})

test('reads of one turn see one state, and the next turn sees what other processes have committed', async () => {
  const { reader, commitElsewhere } = open()
  const find = reader.prepareRow('select name from things where name = ?')
  await nextTurn()
  reader.countCommits()
  commitElsewhere('one')
  expect(find('one')).toBeUndefined()
  await nextTurn()
  expect(find('one')).toMatchObject({ name: 'one' })
})

test('a read sees a commit of this process at once, also after another read of its turn', () => {
  const { reader, writer, add } = open()
  const find = reader.prepareRow('select name from things where name = ?')
  reader.countCommits()
  writer.run(add('one'), [])
  writer.commits += 1
  expect(find('one')).toMatchObject({ name: 'one' })
})

test('a read is prepared with the tables that this process has just made', () => {
  const { reader, writer } = open()
  reader.countCommits()
  writer.run('create table others (name text)', [])
  writer.commits += 1
  expect(reader.prepareRow('select name from others')()).toBeUndefined()
})

test('rows of a prepared read keep their values when it reads the next one', async () => {
  const { reader, commit } = open()
  await commit('one')
  await commit('two')
  const read = reader.prepareRow('select kind, name from things where name = ?')
  const [one, two] = [read('one'), read('two')]
  expect([one, two]).toMatchObject([
    { name: 'one', kind: 'small' },
    { name: 'two', kind: 'small' },
  ])
  expect(read('three')).toBeUndefined()
})
