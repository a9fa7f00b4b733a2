import { existsSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { makeDataDir } from './migrated.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

let dataDir: string
let server: ServerProcess
beforeEach(async () => {
  dataDir = await makeDataDir('keyward-stopping-')
  server = await startProcess({ DATA_DIR: dataDir, HOST: 'localhost' })
})
afterEach(async () => {
  await server.end('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

interface Line {
  socket: Socket
  received(): string
  closed: Promise<void>
}

/** Opens a connection and sends part of a request. */
async function open(bytes: string): Promise<Line> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  socket.write(bytes)
  return { socket, received: () => received, closed }
}

const health = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'
const body = '{"email":"a@example.com","password":"wrong guess"}'
const upload = `POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`

test('SIGTERM closes idle connections at once, finishes running requests, closes the database and exits with 0', async () => {
  const registration = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: registration })).json.data
  const idle = await open(health)
  await eventually(() => expect(idle.received()).toContain('"up"'))
  const unused = await open('')
  const partial = await open('GET /api/health HTTP/1.1\r\n')
  const stream = await open(
    `GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  await eventually(() => expect(stream.received()).toContain('hello'))
  const slow = await open(`${upload}${body.slice(0, 10)}`)
  // A response on another connection proves that the server has read the bytes above.
  await callOver(server.url, 'GET', '/health')

  const ended = server.end('SIGTERM')
  await Promise.all([idle.closed, unused.closed, partial.closed, stream.closed])
  expect(server.process.exitCode).toBeNull()
  slow.socket.write(body.slice(10))
  await slow.closed
  const answered = performance.now()
  expect(slow.received()).toMatch(/^HTTP\/1\.1 401 /)
  expect(slow.received().toLowerCase()).toContain('connection: close')
  expect(await ended).toBe(0)
  // After ten seconds it would end connections and work by force.
  expect(performance.now() - answered).toBeLessThan(9000)
  // SQLite removes its write-ahead log when the last connection closes cleanly.
  expect(existsSync(join(dataDir, 'keyward.db'))).toBe(true)
  expect(existsSync(join(dataDir, 'keyward.db-wal'))).toBe(false)
})

test('SIGHUP, which a closed terminal sends, finishes running requests and exits with 0', async () => {
  const slow = await open(`${upload}${body.slice(0, 10)}`)
  await callOver(server.url, 'GET', '/health')
  const ended = server.end('SIGHUP')
  // The listening socket is closed before the request is complete.
  await eventually(() => expect(callOver(server.url, 'GET', '/health')).rejects.toThrow())
  slow.socket.write(body.slice(10))
  await slow.closed
  expect(slow.received()).toMatch(/^HTTP\/1\.1 401 /)
  expect(await ended).toBe(0)
})

test('answers requests that arrive together with SIGTERM', async () => {
  const lines = await Promise.all(Array.from({ length: 20 }, () => open(health)))
  await eventually(() => expect(lines.every((line) => line.received().includes('"up"'))).toBe(true))
  for (const line of lines) line.socket.write(health)
  expect(await server.end('SIGTERM')).toBe(0)
  await Promise.all(lines.map((line) => line.closed))
  expect(lines.map((line) => line.received().split('"up"').length - 1)).toEqual(lines.map(() => 2))
})

test('HOST=localhost listens on one address only', async () => {
  const socket = connect(Number(new URL(server.url).port), '::1')
  const connected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  expect(connected).toBe(false)
})
