// On PostgreSQL in the full run: a server that is killed sends the same statements to both databases.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/open.ts'
import { makePostgresDatabase } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { callOver, startProcess } from '../server-process.ts'
import { SmtpSink } from '../smtp-sink.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-mails-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Ends the leases of the killed process at once, and returns the mails. */
async function endClaims(url: string | undefined) {
  const { db, close } = openDatabase({ url, dataDir })
  await db.updateTable('reset_requests').set({ due_at: 0 }).execute()
  await db.updateTable('mails').set({ due_at: 0 }).where('due_at', 'is not', null).execute()
  const mails = await db.selectFrom('mails').select('state').execute()
  await close()
  return mails
}

test('mails survive a kill between commit and delivery, and during delivery', async () => {
  const hanging = { isSilent: true }
  const sink = await SmtpSink.start(hanging)
  const url = process.env.TEST_DATABASE === 'postgres' ? await makePostgresDatabase() : undefined
  const environment = {
    DATA_DIR: dataDir,
    SECRET_KEY: 'a secret key that only tests use, 32+ characters',
    SMTP_URL: `smtp://${sink.host}`,
    ...(url === undefined ? {} : { DATABASE_URL: url }),
  }
  const person = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' }
  const { email } = person

  let server = await startProcess(environment)
  const call = (path: string, body: object, headers = {}) =>
    callOver(server.url, 'POST', path, { body, headers })
  expect((await call('/auth/register', person)).status).toBe(201)
  // Killed right after the answer: the request is stored, and perhaps the mail.
  expect((await call('/auth/forgot-password', { email })).status).toBe(200)
  await server.end('SIGKILL')
  await endClaims(url)

  server = await startProcess(environment)
  // Killed while the mail server has the connection: this node has claimed the mail.
  await expect.poll(() => sink.connections, { timeout: 60_000 }).toBeGreaterThan(0)
  await server.end('SIGKILL')

  expect(await endClaims(url)).toEqual([{ state: 'queued' }])

  hanging.isSilent = false
  server = await startProcess(environment)
  await expect.poll(() => mailedLinks(sink, email).length, { timeout: 60_000 }).toBe(1)
  const [, token = ''] = (mailedLinks(sink, email)[0] ?? '').split('#')
  expect((await call('/auth/reset-password', { token, password: 'a better horse' })).status).toBe(200)
  await expect.poll(() => textsTo(sink, email).length).toBe(2)
  expect(await server.end('SIGTERM')).toBe(0)
  expect(textsTo(sink, email)).toHaveLength(2)
  await sink.stop()
}, 600_000)
