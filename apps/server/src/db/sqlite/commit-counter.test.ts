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
  const { writer, reader, commits } = openSqlite(path)
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
  return { reader, commits, commit, commitElsewhere: (name: string) => otherProcess.database.exec(add(name)) }
}

test('counts a commit of this process before the caller learns of it', async () => {
  const { commits, commit } = open()
  const before = commits.read()
  expect(commits.read()).toBe(before)
  await commit('one')
  expect(commits.read()).toBeGreaterThan(before)
})

test('counts a commit of another process by the next turn of the event loop', async () => {
  const { commits, commitElsewhere } = open()
  await nextTurn()
  const before = commits.read()
  commitElsewhere('one')
  await nextTurn()
  expect(commits.read()).toBeGreaterThan(before)
})

test('does not change without a commit, however many turns pass', async () => {
  const { commits } = open()
  await nextTurn()
  const before = commits.read()
  for (let turn = 0; turn < 5; turn += 1) {
    await nextTurn()
    expect(commits.read()).toBe(before)
  }
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
