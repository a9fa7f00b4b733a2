// On PostgreSQL in the full run: a server that is killed sends the same statements to both databases.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { endClaims } from '../end-claims.ts'
import { makePostgresCopy } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { copyMigratedFile } from '../migrated.ts'
import { callOver, startProcess } from '../server-process.ts'
import { SmtpSink } from '../smtp-sink.ts'

const rootDir = mkdtempSync(join(tmpdir(), 'keyward-mails-'))
afterAll(() => rmSync(rootDir, { recursive: true, force: true }))

const person = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' }

/** A mail server, and the environment of a server that uses it. */
async function startMailed(name: string) {
  const hanging = { isSilent: true }
  const sink = await SmtpSink.start(hanging)
  const url = process.env.TEST_DATABASE === 'postgres' ? await makePostgresCopy() : undefined
  const dataDir = mkdtempSync(join(rootDir, name))
  if (url === undefined) await copyMigratedFile(dataDir)
  const environment = {
    DATA_DIR: dataDir,
    SECRET_KEY: 'a secret key that only tests use, 32+ characters',
    SMTP_URL: `smtp://${sink.host}`,
    ...(url === undefined ? {} : { DATABASE_URL: url }),
  }
  return { hanging, sink, environment, database: { url, dataDir } }
}

test('mails survive a kill between commit and delivery, and during delivery', async () => {
  const { hanging, sink, environment, database } = await startMailed('links-')
  const { email } = person

  let server = await startProcess(environment)
  const call = (path: string, body: object, headers = {}) =>
    callOver(server.url, 'POST', path, { body, headers })
  expect((await call('/auth/register', person)).status).toBe(201)
  // Killed right after the answer: the request is stored, and perhaps the mail.
  expect((await call('/auth/forgot-password', { email })).status).toBe(200)
  await server.end('SIGKILL')
  await endClaims(database)

  server = await startProcess(environment)
  // Killed while the mail server has the connection: this node has claimed the mail.
  await expect.poll(() => sink.connections, { timeout: 60_000 }).toBeGreaterThan(0)
  await server.end('SIGKILL')

  expect(await endClaims(database)).toEqual([{ state: 'queued' }])

  hanging.isSilent = false
  server = await startProcess(environment)
  await expect.poll(() => mailedLinks(sink, email).length, { timeout: 60_000 }).toBe(1)
  const [, token = ''] = (mailedLinks(sink, email)[0] ?? '').split('#')
  expect((await call('/auth/reset-password', { token, password: 'a better horse' })).status).toBe(200)
  await expect.poll(() => textsTo(sink, email).length).toBe(2)
  expect(await server.end('SIGTERM')).toBe(0)
  expect(textsTo(sink, email)).toHaveLength(2)
  await sink.stop()
})

test('every customer is told once, whenever the server is killed between the settings and the mail server', async () => {
  const { hanging, sink, environment, database } = await startMailed('customers-')
  let server = await startProcess(environment)
  // While registration is open, the server mails no customers of a vendor with an unconfirmed address.
  const start = () => startProcess({ ...environment, REGISTRATION: 'closed' })
  let token: string | undefined
  const call = async (method: string, path: string, body: object) => {
    const { status, json } = await callOver(server.url, method, path, { ...(token && { token }), body })
    expect([200, 201], JSON.stringify(json)).toContain(status)
    return json.data
  }
  token = (await call('POST', '/auth/register', person)).token
  const { app } = await call('POST', '/apps', { name: 'Atlas' })
  const customers = Array.from({ length: 12 }, (_, at) => `c${at}@customers.example`)
  const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString()
  for (const customer of customers) await call('POST', '/licenses', { app: app._id, expiresAt, customer })
  const turnOn = () => call('PUT', `/apps/${app._id}/customer-mails`, { endsSoonDays: [3] })
  // Killed while it looks for ends, or has just noted the mails.
  await turnOn()
  await server.end('SIGKILL')
  await endClaims(database)
  server = await start()
  // Killed while the mail server has the connection.
  await turnOn()
  await expect.poll(() => sink.connections, { timeout: 60_000 }).toBeGreaterThan(0)
  await server.end('SIGKILL')
  await endClaims(database)
  hanging.isSilent = false
  server = await start()
  await turnOn()
  const told = () => sink.received.flatMap(({ to }) => to).toSorted()
  await expect.poll(told, { timeout: 60_000 }).toEqual(customers.toSorted())
  expect(await server.end('SIGTERM')).toBe(0)
  expect(told()).toEqual(customers.toSorted())
  await sink.stop()
})
