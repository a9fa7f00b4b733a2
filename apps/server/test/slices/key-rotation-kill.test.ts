// In the full run: it starts a server several times; shops, mails and imports are killed in every run.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Config, readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import { rotateKeys } from '../../src/db/key-rotation/rotate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { sealedColumns } from '../../src/modules/system/sealed-columns.ts'
import { runKeyward } from '../command-line.ts'
import { makePostgresDatabase } from '../harness.ts'
import { keysIn } from '../key-rotations.ts'
import { callOver, type ServerProcess, startProcess } from '../server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-rotation-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))
const isPostgres = process.env.TEST_DATABASE === 'postgres'
const [before, after] = [
  'the key before, of 32 characters at least',
  'the key after, of 32 characters at least',
]
const { PATH = '', HOME = '' } = process.env
const waitMs = 120_000

test('survives a kill in the middle, two commands at once, and restarts with the new key alone', async () => {
  const url = isPostgres ? await makePostgresDatabase() : undefined
  const base = { PATH, HOME, DATA_DIR: dataDir, ...(url === undefined ? {} : { DATABASE_URL: url }) }
  const keys = (of: Record<string, string>) => (isPostgres ? { ...base, ...of } : base)
  const both = keys({ SECRET_KEY: after, SECRET_KEY_PREVIOUS: before })
  const rotate = (environment: Record<string, string>, started?: (child: ChildProcess) => void) =>
    runKeyward(['keys', 'rotate', ...(isPostgres ? ['--servers', '1'] : [])], environment, started)

  let server: ServerProcess = await startProcess(keys({ SECRET_KEY: before }))
  const person = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' }
  const registered = await callOver(server.url, 'POST', '/auth/register', { body: person })
  const { token } = registered.json.data
  const made = await callOver(server.url, 'POST', '/apps', { token, body: { name: 'Atlas' } })
  expect(made.status).toBe(201)
  const { _id, appId, appSecret } = made.json.data.app
  const opened = await callOver(server.url, 'POST', '/client/init', {
    body: { appId, secret: appSecret, version: '1.0.0' },
  })
  const checkAll = async () => {
    const { status, json } = await callOver(server.url, 'GET', `/apps/${_id}`, { token })
    expect([status, json.data?.app.appSecret]).toEqual([200, appSecret])
    const body = { appId, secret: appSecret, version: '1.0.0' }
    expect((await callOver(server.url, 'POST', '/client/init', { body })).status).toBe(200)
    const session = { token: opened.json.data.session, headers: { 'keyward-app': appId } }
    expect((await callOver(server.url, 'GET', '/client/variables', session)).status).not.toBe(500)
  }
  const first = (await keysIn({ url, dataDir })).fingerprint
  if (isPostgres) {
    const refused = await rotate(both)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/does not hold the new key.*Nothing was changed/),
    ])
    expect(await keysIn({ url, dataDir })).toEqual({ fingerprint: first, rotation: undefined })
    expect(await server.end('SIGTERM')).toBe(0)
    server = await startProcess(both)
  }

  let child: ChildProcess | undefined
  const killed = rotate(both, (started) => {
    child = started
  })
  const phase = async () => (await keysIn({ url, dataDir })).rotation?.phase
  await expect.poll(phase, { timeout: waitMs }).toBe('sealing')
  child?.kill('SIGKILL')
  expect((await killed).code).not.toBe(0)
  await checkAll()
  const doctor = await runKeyward(['doctor', '--json'], both)
  expect(JSON.parse(doctor.stdout).findings).toContainEqual({
    ...{ check: 'key', state: 'warning', fix: 'keyward keys rotate' },
    text: 'A rotation of the secret key is unfinished: both keys are needed.',
  })
  if (!isPostgres) {
    const backup = await runKeyward(['backup', '--with-key'], both)
    expect([backup.code, backup.stderr]).toEqual([1, expect.stringContaining('keyward keys rotate')])
  }

  const dead = (await keysIn({ url, dataDir })).rotation?.runner
  const repeated = rotate(both)
  const runner = async () => (await keysIn({ url, dataDir })).rotation?.runner
  await expect.poll(runner, { timeout: waitMs }).not.toBe(dead)
  await expect(rotateHere(readConfig(both))).rejects.toThrow('Another keyward keys rotate is running')
  expect((await repeated).code).toBe(0)
  await checkAll()
  const done = await keysIn({ url, dataDir })
  expect(done.rotation).toBeUndefined()
  expect(done.fingerprint).not.toBe(first)

  expect(await server.end('SIGTERM')).toBe(0)
  server = await startProcess(keys({ SECRET_KEY: after }))
  await checkAll()
  if (!isPostgres) checkFiles(first, done.fingerprint)
  expect(await server.end('SIGTERM')).toBe(0)
  if (isPostgres) {
    const refused = await rotate(keys({ SECRET_KEY: before, SECRET_KEY_PREVIOUS: 'neither of both' }))
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/not the key .*Nothing was changed/),
    ])
  }
}, 600_000)

/** A second command, in this process, which begins at once. */
async function rotateHere(config: Config) {
  const database = openDatabase({ url: config.databaseUrl, dataDir })
  try {
    const told = { clock: systemClock, tell: () => {} }
    return await rotateKeys(database, config, { ...told, columns: sealedColumns, servers: 1 })
  } finally {
    await database.close()
  }
}

/** The old key is kept beside the new one, for its account alone. */
function checkFiles(first: string | undefined, last: string | undefined) {
  const files = readdirSync(dataDir).filter((name) => name.startsWith('secret.key'))
  expect(files).toEqual(['secret.key', expect.stringMatching(/^secret\.key\.until-/)])
  const prints = files.map((name) => createSeal(readFileSync(join(dataDir, name), 'utf8').trim()).fingerprint)
  expect(prints).toEqual([last, first])
  for (const name of files) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600)
}
