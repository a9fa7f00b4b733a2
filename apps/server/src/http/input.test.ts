import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { installErrors } from './errors.ts'
import { bodyReader } from './input.ts'
import { readNoBodies } from './server.ts'

const limit = 1000

let server: FastifyInstance
let sockets: Socket[]

beforeEach(async () => {
  sockets = []
  server = fastify()
  installErrors(server)
  readNoBodies(server)
  const read = bodyReader(server, { limit })
  server.post('/', async (request, reply) => {
    const sent = await read({ request, reply })
    return { body: sent?.value, raw: sent?.bytes.toString() }
  })
  server.get('/', async ({ body }) => ({ body: body ?? null }))
  await server.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await server.close()
})

function open() {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
  sockets.push(socket)
  let received = ''
  let isEnded = false
  socket.on('data', (data) => (received += data))
  socket.on('close', () => (isEnded = true))
  return { socket, received: () => received, isEnded: () => isEnded }
}

const head = (headers: string, method = 'POST') => `${method} / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`
const post = (body: string, type = 'application/json') =>
  `${head(`Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`
const chunked = (...chunks: string[]) =>
  head('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n') +
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
/** JSON of this many bytes. */
const sized = (bytes: number) => JSON.stringify({ a: 'x'.repeat(bytes - 8) })

/** Sends the parts with pauses in between, and returns the response. */
async function exchange(...parts: string[]): Promise<{ status: number; body: string; closes: boolean }> {
  const { socket, received } = open()
  for (const [at, part] of parts.entries()) {
    if (at > 0) await pause(20)
    socket.write(part)
  }
  await expect.poll(received).toMatch(/\r\n\r\n.*\}$/s)
  const [headers = '', body = ''] = received().split('\r\n\r\n')
  return { status: Number(headers.slice(9, 12)), body, closes: /^connection: close/im.test(headers) }
}

describe('a body', () => {
  test.each([
    ['with its headers', [post('{"a":"é"}')]],
    ['after its headers', [post('{"a":"é"}').slice(0, -9), '{"a":"é"}']],
    ['in parts', [post('{"a":"é"}').slice(0, -5), ':"é', '"}']],
    ['in chunks with its headers', [chunked('{"a":', '"e"}')]],
    ['in chunks after its headers', chunked('{"a":', '"e"}').split(/(?<=:)(?=\r)/)],
  ])('is read when it arrives %s', async (_how, parts) => {
    const { status, body } = await exchange(...parts)
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ body: { a: expect.stringMatching(/^[eé]$/) } })
  })

  test('may have as many bytes as the limit allows, and no more', async () => {
    const largest = sized(limit)
    for (const parts of [
      [post(largest)],
      [post(largest).slice(0, -400), largest.slice(-400)],
      [chunked(largest)],
    ]) {
      expect(await exchange(...parts)).toMatchObject({ status: 200 })
    }
    const tooLarge = sized(limit + 1)
    const parts = [
      [post(tooLarge)],
      [chunked(tooLarge)],
      [chunked(tooLarge).slice(0, 600), chunked(tooLarge).slice(600)],
    ]
    for (const sent of parts) expect(await exchange(...sent)).toMatchObject({ status: 413, closes: true })
  })

  test('that will be too large is refused before it arrives', async () => {
    const announced = head(`Content-Type: application/json\r\nContent-Length: ${limit + 1}\r\n`)
    expect(await exchange(announced)).toMatchObject({ status: 413, closes: true })
  })

  test('must be JSON', async () => {
    expect(await exchange(post('{"a":', 'application/json'))).toMatchObject({ status: 400, closes: true })
    expect(await exchange(post('a=1', 'text/plain'))).toMatchObject({ status: 415, closes: true })
    expect(await exchange(post('{"__proto__":{}}'))).toMatchObject({ status: 400 })
  })

  test('counts as an empty object when it is empty, and is not read of a GET', async () => {
    const empty = await exchange(
      head('Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n'),
      '0\r\n\r\n',
    )
    expect(empty).toMatchObject({ status: 200, body: '{"body":{},"raw":""}' })
    const get = await exchange(
      `${head('Content-Type: application/json\r\nContent-Length: 7\r\n', 'GET')}{"a":1}`,
    )
    expect(get).toMatchObject({ status: 200, body: '{"body":null}' })
  })
})

test('bodies of requests that arrive together are kept apart', async () => {
  const { socket, received } = open()
  socket.write([1, 2, 3].map((n) => post(`{"n":${n}}`)).join(''))
  await expect
    .poll(() => [...received().matchAll(/"body":\{"n":(\d)\}/g)].map(([, n]) => n).join())
    .toBe('1,2,3')
})

test('an aborted body leaves other connections alone', async () => {
  const aborted = open()
  aborted.socket.write(post('{"a":1}').slice(0, -3))
  await pause(20)
  aborted.socket.destroy()
  const { socket, received, isEnded } = open()
  for (let n = 1; n <= 3; n += 1) {
    socket.write(post(`{"n":${n}}`))
    await expect.poll(received).toContain(`{"n":${n}}`)
  }
  expect(isEnded()).toBe(false)
})
