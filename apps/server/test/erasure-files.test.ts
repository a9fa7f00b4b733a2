import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { runKeywardInHost } from './command-line.ts'
import { makeDataDir } from './migrated.ts'
import { callOver, startProcess } from './server-process.ts'

const dataDir = await makeDataDir('keyward-erasure-')
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const email = 'in.the.file@erased.example'
const contains = (file: string) => readFileSync(file).toString('latin1').includes(email)

test('a backup from before an erasure has the person, one from after it does not, nor has the database after VACUUM', async () => {
  const environment = { DATA_DIR: dataDir }
  const server = await startProcess(environment)
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: vendor })).json.data
  const call = (method: string, path: string, body?: unknown) =>
    callOver(server.url, method, path, { token, body })
  const { customer } = (await call('POST', '/customers', { email, note: email })).json.data
  const backup = async (name: string) => {
    const file = join(dataDir, name)
    expect((await runKeywardInHost(['backup', file], environment)).code).toBe(0)
    return file
  }
  const before = await backup('before.tar')
  expect((await call('DELETE', `/customers/${customer._id}`)).status).toBe(200)
  const after = await backup('after.tar')
  expect([contains(before), contains(after)]).toEqual([true, false])
  expect(await server.end('SIGTERM')).toBe(0)

  const file = join(dataDir, 'keyward.db')
  const database = new DatabaseSync(file)
  database.exec('vacuum')
  database.prepare('pragma wal_checkpoint(truncate)').get()
  database.close()
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith('keyward.db')))
    expect(contains(join(dataDir, name)), name).toBe(false)

  // Whoever restores it erases the person again.
  expect((await runKeywardInHost(['restore', before], environment)).code).toBe(0)
  expect(contains(file)).toBe(true)
})
