import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { everyRow } from '../../../test/every-row.ts'
import { selfSigned } from '../../../test/self-signed.ts'
import { type HostNames, Outbound } from './outbound.ts'

const config = {
  development: false,
  webhookNetworks: ['127.0.0.2/32'] as string[],
  publicUrl: undefined,
  port: 3000,
}
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function listen(server: Server, address = '127.0.0.2', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

const serve = (handle: http.RequestListener, address?: string, port?: number) =>
  listen(http.createServer(handle), address, port)

/** A server that sends these bytes to each caller. */
const say = (answer: (socket: Socket) => void) => listen(createServer(answer))

/** Host names whose answers change with each question. */
function stubNames(...answers: string[][]) {
  const asked: string[] = []
  const names: HostNames = {
    resolve4: async (host) => answers[Math.min(asked.push(host), answers.length) - 1]!,
    resolve6: async () => Promise.reject(new Error('ENODATA')),
    cancel: () => {},
  }
  return { asked, names: () => names }
}

const request = (url: string) => ({
  method: 'POST' as const,
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
  keptBytes: 100,
})

const failureOf = async (outbound: Outbound, url: string): Promise<unknown> =>
  outbound.exchange(request(url)).then(
    ({ status }) => status,
    (error) => error.failure,
  )

test('sends the body to the host and reports its answer', async () => {
  const seen: unknown[] = []
  const port = await serve(async (incoming, answer) => {
    const body = Buffer.concat(await incoming.toArray()).toString()
    seen.push([incoming.method, incoming.url, incoming.headers.host, incoming.headers['content-type'], body])
    answer.writeHead(202, { 'retry-after': '3' }).end('ok')
  })
  const { names } = stubNames(['127.0.0.2'])
  const found = await new Outbound(config, { names }).exchange(
    request(`http://hooks.example:${port}/a?b=c#d`),
  )
  expect(found).toMatchObject({ status: 202, body: Buffer.from('ok') })
  expect(found.headers['retry-after']).toBe('3')
  expect(seen).toEqual([['POST', '/a?b=c', `hooks.example:${port}`, 'application/json', '{"a":1}']])
})

test('connects to what it checked, although the name leads elsewhere by then', async () => {
  const reached: string[] = []
  const port = await serve((_incoming, answer) => {
    reached.push('checked')
    answer.end()
  })
  await serve(
    (_incoming, answer) => {
      reached.push('internal')
      answer.end()
    },
    '127.0.0.3',
    port,
  )
  const { asked, names } = stubNames(['127.0.0.2'], ['127.0.0.3'])
  expect(await failureOf(new Outbound(config, { names }), `http://hooks.example:${port}/`)).toBe(200)
  expect(asked).toEqual(['hooks.example'])
  expect(reached).toEqual(['checked'])
  expect(await failureOf(new Outbound(config, { names }), `http://hooks.example:${port}/`)).toBe('host')
  expect(reached).toEqual(['checked'])
})

test('connects to none but the allowed addresses of a name', async () => {
  const reached: string[] = []
  const port = await serve((_incoming, answer) => {
    reached.push('internal')
    answer.end()
  }, '127.0.0.3')
  await serve(
    (_incoming, answer) => {
      reached.push('listed')
      answer.end()
    },
    '127.0.0.2',
    port,
  )
  for (const addresses of [
    ['127.0.0.3', '127.0.0.2'],
    ['127.0.0.2', '127.0.0.3'],
  ]) {
    const { names } = stubNames(addresses)
    expect(await failureOf(new Outbound(config, { names }), `http://hooks.example:${port}/`)).toBe(200)
  }
  expect(reached).toEqual(['listed', 'listed'])
})

test('a private, a local, an unknown and a slow name fail with the same sentence', async () => {
  const unknown: HostNames = {
    resolve4: () => Promise.reject(new Error('ENOTFOUND')),
    resolve6: () => Promise.reject(new Error('ENOTFOUND')),
    cancel: () => {},
  }
  const rejects: (() => void)[] = []
  const wait = () =>
    new Promise<never>((_resolve, reject) => rejects.push(() => reject(new Error('ECANCELLED'))))
  const slow: HostNames = {
    resolve4: wait,
    resolve6: wait,
    cancel: () => {
      for (const reject of rejects) reject()
    },
  }
  const messages = await Promise.all(
    [stubNames(['10.0.0.1']).names, stubNames(['169.254.169.254']).names, () => unknown, () => slow].map(
      (names) =>
        new Outbound(config, { names, waits: { wholeMs: 50 } })
          .exchange(request('https://db.internal.example/'))
          .catch(({ message }) => message),
    ),
  )
  expect(new Set(messages)).toEqual(new Set(['The host has no public address.']))
})

test('a name that resolves after the deadline is not called', async () => {
  const late: HostNames = {
    resolve4: () => new Promise((resolve) => setTimeout(resolve, 60, ['127.0.0.2'])),
    resolve6: async () => [],
    cancel: () => {},
  }
  const outbound = new Outbound(config, { names: () => late, waits: { wholeMs: 20 } })
  expect(await failureOf(outbound, 'http://hooks.example:4000/')).toBe('slow')
})

test('follows no redirect', async () => {
  const urls: (string | undefined)[] = []
  const port = await serve((incoming, answer) => {
    urls.push(incoming.url)
    answer.writeHead(Number(incoming.url!.slice(1)), { location: '/200' }).end()
  })
  const statuses = [301, 302, 303, 307, 308]
  for (const status of statuses) {
    expect(await failureOf(new Outbound(config), `http://127.0.0.2:${port}/${status}`)).toBe(status)
  }
  expect(urls).toEqual(statuses.map((status) => `/${status}`))
})

test('keeps the beginning of an endless body, and its sender is cut off', async () => {
  let sent = 0
  let ended: Promise<unknown> | undefined
  const port = await serve((_incoming, answer) => {
    ended = new Promise((resolve) => answer.on('close', resolve))
    const more = () => {
      while (!answer.destroyed) {
        sent += 1024
        if (!answer.write('x'.repeat(1024))) return void answer.once('drain', more)
      }
    }
    more()
  })
  const found = await new Outbound(config).exchange(request(`http://127.0.0.2:${port}/`))
  expect(found.status).toBe(200)
  expect(found.body).toEqual(Buffer.from('x'.repeat(100)))
  await ended
  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

test('an answer whose body drips counts with its status', async () => {
  const port = await say((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome')
  })
  for (const waits of [{ restOfBodyMs: 30 }, { wholeMs: 300 }]) {
    const found = await new Outbound(config, { waits }).exchange(request(`http://127.0.0.2:${port}/`))
    expect(found).toMatchObject({ status: 200, body: Buffer.from('some') })
  }
})

test('decompresses nothing', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  let accepted: string | undefined
  const port = await serve((incoming, answer) => {
    accepted = incoming.headers['accept-encoding'] as string
    answer.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const found = await new Outbound(config).exchange(request(`http://127.0.0.2:${port}/`))
  expect(found.body).toEqual(bomb.subarray(0, 100))
  expect(accepted).toBe('identity')
})

test('ends every answer that is no proper one, with a reason', async () => {
  const whole = { waits: { wholeMs: 300 } }
  const drip = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('a: b\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  }
  await everyRow<[(socket: Socket) => void, string]>(
    [
      ['silence', () => {}, 'slow'],
      ['headers that drip', drip, 'slow'],
      ['an end without an answer', (socket) => socket.end(), 'closed'],
      ['a reset', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'closed'],
      ['the banner of another service', (socket) => socket.write('220 mail.internal ESMTP\r\n'), 'protocol'],
      [
        'large headers',
        (socket) => socket.write(`HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}\r\n\r\n`),
        'headers',
      ],
      [
        'many headers',
        (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}\r\n`),
        'headers',
      ],
      [
        'both lengths',
        (socket) =>
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'),
        'protocol',
      ],
      [
        'another protocol',
        (socket) => socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
        'closed',
      ],
      [
        'endless hints',
        (socket) => {
          const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'), 5)
          socket.on('close', () => clearInterval(timer))
        },
        'slow',
      ],
    ],
    async (_name, answer, failure) => {
      const port = await say(answer)
      expect(await failureOf(new Outbound(config, whole), `http://127.0.0.2:${port}/`)).toBe(failure)
    },
  )
})

test('a refused connection says so without naming an address', async () => {
  const port = await serve((_incoming, answer) => answer.end())
  await open.pop()!()
  const sent = new Outbound(config).exchange(request(`http://127.0.0.2:${port}/`))
  await expect(sent).rejects.toThrow(/^The server refused the connection\.$/)
})

test('gives up a connection that is not accepted', async () => {
  const port = await say(() => {})
  const { cert } = selfSigned()
  const outbound = new Outbound(config, { ca: cert, waits: { connectMs: 50 } })
  expect(await failureOf(outbound, `https://127.0.0.2:${port}/`)).toBe('connecting')
})

test('an answer may take longer than a connection', async () => {
  const certificate = selfSigned()
  const answerLate: http.RequestListener = (_incoming, answer) => void setTimeout(() => answer.end(), 1200)
  const outbound = new Outbound(
    { ...config, development: true },
    { ca: certificate.cert, waits: { connectMs: 1000 } },
  )
  const plain = await serve(answerLate, '127.0.0.1')
  const encrypted = await listen(https.createServer(certificate, answerLate), '127.0.0.1')
  const urls = [`http://localhost:${plain}/`, `https://localhost:${encrypted}/`]
  expect(await Promise.all(urls.map((url) => failureOf(outbound, url)))).toEqual([200, 200])
})

test('verifies certificates', async () => {
  const valid = selfSigned()
  const expired = selfSigned({ until: '210101000000Z' })
  const serveTls = (certificate: { key: string; cert: string }) =>
    listen(https.createServer(certificate, (_incoming, answer) => answer.end()))
  const port = await serveTls(valid)
  const names = stubNames(['127.0.0.2']).names
  const outbound = new Outbound(config, { names, ca: valid.cert })
  // The certificate names localhost, which is looked up by nobody: the stub leads another name to the same server.
  expect(await failureOf(outbound, `https://hooks.example:${port}/`)).toBe('otherName')
  expect(await failureOf(new Outbound(config, { names }), `https://hooks.example:${port}/`)).toBe('untrusted')
  const expiredPort = await serveTls(expired)
  expect(
    await failureOf(
      new Outbound(config, { names, ca: expired.cert }),
      `https://hooks.example:${expiredPort}/`,
    ),
  ).toBe('expired')
  const localPort = await listen(
    https.createServer(valid, (_incoming, answer) => answer.end()),
    '127.0.0.1',
  )
  const local = new Outbound({ ...config, development: true }, { ca: valid.cert })
  expect(await failureOf(local, `https://localhost:${localPort}/`)).toBe(200)
  expect(
    await failureOf(
      new Outbound(config),
      `https://127.0.0.2:${await say((socket) => socket.end('no TLS\n'))}/`,
    ),
  ).toBe('encryption')
})

test('goes through no proxy of the environment', async () => {
  const port = await serve((_incoming, answer) => answer.end())
  process.env.HTTP_PROXY = 'http://127.0.0.3:1'
  process.env.NODE_USE_ENV_PROXY = '1'
  try {
    expect(await failureOf(new Outbound(config), `http://127.0.0.2:${port}/`)).toBe(200)
  } finally {
    delete process.env.HTTP_PROXY
    delete process.env.NODE_USE_ENV_PROXY
  }
})
