import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailedLinks } from './mailed.ts'
import { makeDataDir } from './migrated.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'
import { SmtpSink } from './smtp-sink.ts'

const dataDir = await makeDataDir('keyward-logs-')
const secretKey = 'the secret key of this test, 32 and more characters'
let server: ServerProcess
let sink: SmtpSink
// Rejects the confirmation mail, so that a mail error is logged too.
const reply = (line: string) => {
  if (line.startsWith('DATA')) mails += 1
  return line.startsWith('DATA') && mails > 1 ? '554 no' : undefined
}
let mails = 0
beforeAll(async () => {
  sink = await SmtpSink.start({ reply })
  const SMTP_URL = `smtp://${sink.host}`
  server = await startProcess({ DATA_DIR: dataDir, SECRET_KEY: secretKey, LOG_LEVEL: 'trace', SMTP_URL })
})
afterAll(async () => {
  await server.end('SIGKILL')
  await sink.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const call = (method: string, path: string, options = {}) => callOver(server.url, method, path, options)

test('never logs a password, token, secret or key, on success or failure', async () => {
  const secrets: Record<string, string> = {
    secretKey,
    password: 'correct-horse-battery',
    wrong: 'wrong-staple-guess',
  }
  const credentials = { email: 'vendor@example.com', password: secrets.password }
  const registered = await call('POST', '/auth/register', { body: { name: 'V', ...credentials } })
  secrets.firstToken = registered.json.data.token
  await call('POST', '/auth/forgot-password', { body: { email: credentials.email } })
  await expect.poll(() => mailedLinks(sink, credentials.email).length).toBe(1)
  secrets.resetToken = mailedLinks(sink, credentials.email)[0]?.split('#')[1] as string
  secrets.newPassword = 'better-horse-battery'
  credentials.password = secrets.newPassword
  const reset = { body: { token: secrets.resetToken, password: secrets.newPassword } }
  const { token } = (await call('POST', '/auth/reset-password', reset)).json.data
  await call('POST', '/auth/reset-password', reset)
  secrets.token = token
  await call('POST', '/auth/login', { body: { ...credentials, password: secrets.wrong } })
  await call('POST', '/auth/login', { body: { ...credentials, passwort: secrets.wrong } })
  const { app } = (await call('POST', '/apps', { token, body: { name: 'Atlas' } })).json.data
  secrets.appSecret = app.appSecret
  const { license } = (
    await call('POST', '/licenses', { token, body: { app: app._id, expiresAt: '2999-01-01' } })
  ).json.data
  secrets.licenseKey = license.key
  const init = (secret: string) =>
    call('POST', '/client/init', { body: { appId: app.appId, secret, version: '1' } })
  const { session } = (await init(app.appSecret)).json.data
  secrets.session = session
  await init(secrets.wrong as string)
  secrets.userPassword = 'end-users-own-password'
  secrets.hwid = 'HWID-OF-A-CUSTOMER-77'
  const headers = { 'keyward-app': app.appId }
  const program = (path: string, body: object) =>
    call('POST', `/client${path}`, { token: session, headers, body })
  const user = { username: 'alice', password: secrets.userPassword, hwid: secrets.hwid }
  await program('/register', { ...user, licenseKey: license.key })
  await program('/login', user)
  await program('/login', { ...user, hwid: 'other' })
  await call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: license.key } })
  await call('GET', `/licenses?search=${license.key}`, { token })
  // Some shipped programs of other systems send everything in the address.
  const { secret: oldSecret } = (
    await call('PUT', `/apps/${app._id}/compatibility`, {
      token,
      body: { enabled: true, name: 'Atlas', ownerId: 'Kw3nD0rId1', protocols: ['1.1', '1.2'] },
    })
  ).json.data
  secrets.oldSecret = oldSecret
  const old = async (path: string, fields: object) => {
    const query = new URLSearchParams({ name: 'Atlas', ownerid: 'Kw3nD0rId1', ...fields })
    return (await fetch(`${server.url}/api${path}?${query}`)).text()
  }
  const { sessionid } = JSON.parse(await old('/1.1/', { type: 'init' }))
  secrets.oldSession = sessionid
  const typed = {
    sessionid,
    username: 'alice',
    pass: secrets.userPassword,
    key: license.key,
    hwid: secrets.hwid,
  }
  for (const type of ['login', 'register', 'license', 'nothing']) await old('/1.1/', { ...typed, type })
  for (const path of ['/1.1/more', '/1.9/', `/apps/${app.appId}/1.2`, '/1.2//']) await old(path, typed)
  const rotated = await call('POST', `/apps/${app._id}/rotate-secret`, { token })
  secrets.rotated = rotated.json.data.app.appSecret

  const file = new DatabaseSync(join(dataDir, 'keyward.db'), { timeout: 5000 })
  const { signing_sealed: sealed } = file.prepare('select signing_sealed from apps').get() as Record<
    string,
    string
  >
  secrets.sealed = sealed as string
  const { password_hash: hash } = file.prepare('select password_hash from accounts').get() as Record<
    string,
    string
  >
  secrets.hash = hash as string
  file.exec('alter table clients rename to gone; alter table audit rename to gone_too')
  file.close()
  const broken = await program('/login', user)
  expect(broken.status).toBe(500)
  const alsoBroken = await call('POST', '/auth/login', { body: credentials })
  expect(alsoBroken.status).toBe(500)
  expect(await old('/1.1/', { ...typed, type: 'login' })).toContain('"success":false')

  for (const { json } of [broken, alsoBroken]) await expect.poll(server.output).toContain(json.requestId)
  const log = server.output()
  expect(log).toContain('/api/auth/login')
  expect(log).toContain('the mail was not sent')
  const leaked = Object.entries(secrets).filter(([, value]) => log.includes(value))
  expect(leaked).toEqual([])
})
