import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockDataDir } from '../src/db/sqlite/data-dir.ts'
import { runKeyward, runKeywardInHost } from './command-line.ts'
import { fillEveryTable } from './every-table.ts'
import { createTargets, expectSameRows, type MoveTargets } from './move-targets.ts'
import { type ProgramApp, signed, signInProgram } from './program-process.ts'
import { callOver, startProcess } from './server-process.ts'

const names = ['keyward_move_first', 'keyward_move_second', 'keyward_move_taken'] as const
const [first, second, taken] = names
const bulk = 5000
let targets: MoveTargets
let dataDir: string

beforeAll(async () => {
  targets = await createTargets(names)
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-move-'))
})
afterAll(async () => {
  await targets.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const urlOf = (name: string) => targets.urlOf(name)
const ask = <Row extends object>(name: string, text: string) => targets.ask<Row>(name, text)
const move = (to: string, ...options: string[]) =>
  runKeywardInHost(['move', urlOf(to), ...options], { DATA_DIR: dataDir })
const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString()
const credentials = { email: 'ann@example.com', password: 'correct horse' }

/** Lets a program sign in with a new license; returns the headers of its session. */
async function signInNew(url: string, token: string, app: ProgramApp) {
  const { json } = await callOver(url, 'POST', '/licenses', { token, body: { app: app._id, expiresAt } })
  return signInProgram(url, app, json.data.license.key, 'computer-of-a-move')
}

/** Kills the command when it has begun to copy, and returns its exit code. */
const killedMove = () =>
  runKeyward(['move', urlOf(first)], { DATA_DIR: dataDir }, (started) =>
    started.stderr?.once('data', () => started.kill('SIGKILL')),
  )

test('a move brings every row of every table to PostgreSQL, after a kill too', async () => {
  const old = await startProcess({ DATA_DIR: dataDir })
  const joined = await callOver(old.url, 'POST', '/auth/register', { body: { ...credentials, name: 'Ann' } })
  const { token } = joined.json.data
  const other = { ...credentials, email: 'bea@example.com', name: 'Bea' }
  expect((await callOver(old.url, 'POST', '/auth/register', { body: other })).status).toBe(201)
  const made = await callOver(old.url, 'POST', '/apps', { token, body: { name: 'Été 𝄞' } })
  expect(made.status).toBe(201)
  const session = await signInNew(old.url, token, made.json.data.app)
  await old.end('SIGTERM')

  const path = join(dataDir, 'keyward.db')
  fillEveryTable(path, bulk)
  await ask(taken, 'create table of_somebody (id int)')
  const refused = await move(taken)
  expect(refused.stderr).toContain('is not empty: it has rows or a table in of_somebody')
  const withOtherKey = { DATA_DIR: dataDir, SECRET_KEY: 'k'.repeat(32) }
  const unsealed = await runKeywardInHost(['move', urlOf(first)], withOtherKey)
  expect(unsealed).toMatchObject({ code: 1, stderr: expect.stringContaining('SECRET_KEY') })

  const killed = await killedMove()
  expect(killed.code).not.toBe(0)
  expect(killed.stderr).toMatch(/^Copied /)
  expect((await runKeywardInHost(['migrate', '--status'], { DATA_DIR: dataDir })).code).toBe(0)
  const { code, stdout, stderr } = await move(first, '--json')
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`licenses: ${bulk + 1} rows`),
  })

  const report = JSON.parse(stdout)
  await expectSameRows(targets, first, path, report.tables)

  expect((await move(first)).stdout).toContain('An earlier run has moved everything')
  expect((await move(second)).stderr).toContain('was moved to')
  await expect(startProcess({ DATA_DIR: dataDir })).rejects.toThrow('set DATABASE_URL and SECRET_KEY')

  const SECRET_KEY = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()
  const server = await startProcess({
    DATABASE_URL: urlOf(first),
    SECRET_KEY,
    DATA_DIR: join(dataDir, 'node'),
    DEFAULT_PLAN: 'premium',
  })
  try {
    const profile = await callOver(server.url, 'GET', '/apps', { token })
    expect(profile.status).toBe(200)
    // The invented rows are Ann's, and no sign-in could read them.
    const entered = await callOver(server.url, 'POST', '/auth/login', {
      body: { ...credentials, email: 'bea@example.com' },
    })
    expect(entered.status).toBe(200)
    const ofProgram = await callOver(server.url, 'GET', '/client/session', { headers: signed(session) })
    expect(ofProgram.status).toBe(200)
    // Counts go on from the copied ones, numbers after the highest, and triggers work again.
    const app = made.json.data.app._id
    const [before] = await ask<{ n: number }>(
      first,
      `select license_count as n from apps where id = '${app}'`,
    )
    const [highest] = await ask<{ n: string }>(first, 'select max(seq) as n from licenses')
    const body = { app, expiresAt, count: 2 }
    const added = await callOver(server.url, 'POST', '/licenses', { token, body })
    expect(added.status).toBe(201)
    const [after] = await ask<{ n: number }>(first, `select license_count as n from apps where id = '${app}'`)
    const [next] = await ask<{ n: string }>(first, 'select max(seq) as n from licenses')
    expect(after?.n).toBe((before?.n ?? 0) + 2)
    expect(Number(next?.n)).toBe(Number(highest?.n) + 2)
  } finally {
    await server.end('SIGTERM')
  }
})

test('a row that differs in PostgreSQL stops the move, and nothing is kept', async () => {
  const directory = join(dataDir, 'another')
  const server = await startProcess({ DATA_DIR: directory })
  await callOver(server.url, 'POST', '/auth/register', { body: { ...credentials, name: 'Ann' } })
  await server.end('SIGTERM')
  const moveIt = () => runKeywardInHost(['move', urlOf(second)], { DATA_DIR: directory })

  // An operator who started a server on the target has written to it.
  const seen = await startProcess({
    DATABASE_URL: urlOf(second),
    SECRET_KEY: 'k'.repeat(32),
    DATA_DIR: dataDir,
  })
  await seen.end('SIGTERM')
  expect((await moveIt()).stderr).toContain('is not empty: it has rows or a table in meta')
  await ask(second, 'delete from meta')

  // Stands for whatever changes a row on its way.
  await ask(
    second,
    `create rule changed as on insert to accounts where new.name = 'Ann'
    do also update accounts set name = 'Bob'`,
  )
  const refused = await moveIt()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('The rows of accounts are not the same in PostgreSQL')
  expect(await ask(second, 'select 1 from owners')).toEqual([])
  await ask(second, 'drop rule changed on accounts')
  const again = await startProcess({ DATA_DIR: directory })
  await again.end('SIGTERM')

  // A server that does not know of moves would go on writing.
  const release = lockDataDir(directory)
  expect((await moveIt()).stderr).toContain('is not a server of this version: stop it')
  release()

  const url = Object.assign(new URL(urlOf(second)), { password: 'hidden', port: '1' }).href
  const away = await runKeywardInHost(['move', url], { DATA_DIR: directory })
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('PostgreSQL: ') })
  expect(away.stderr).not.toContain('hidden')
  expect((await moveIt()).code).toBe(0)
})
