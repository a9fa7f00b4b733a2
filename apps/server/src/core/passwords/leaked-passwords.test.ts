import { createHash } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { LeakedPasswords } from './leaked-passwords.ts'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const hashOf = (password: string) => createHash('sha1').update(password).digest('hex').toUpperCase()
const rest = hashOf('hunter2').slice(5)

/** Only an API that hangs reaches `timeoutMs`. */
async function ask(answer: RequestListener, timeoutMs = 60_000) {
  const asked: { path: string | undefined }[] = []
  const errors: unknown[] = []
  const server = createServer((request, response) => {
    asked.push({ path: request.url })
    answer(request, response)
  })
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range`
  const passwords = new LeakedPasswords({ url, onError: (error) => errors.push(error), timeoutMs })
  return { passwords, asked, errors }
}

describe('a range API', () => {
  test('gets five digits of the hash, and its answer decides', async () => {
    const { passwords, asked, errors } = await ask((_request, response) =>
      response.end(`${'0'.repeat(35)}:3\r\n${rest.toLowerCase()}:17\r\n`),
    )
    expect(await passwords.has('hunter2')).toBe(true)
    expect(await passwords.has('hunter3')).toBe(false)
    expect(asked.map(({ path }) => path)).toEqual(
      ['hunter2', 'hunter3'].map((password) => `/range/${hashOf(password).slice(0, 5)}`),
    )
    expect(errors).toEqual([])
  })

  test('that adds the hash as padding reports no leak', async () => {
    const { passwords } = await ask((_request, response) => response.end(`${rest}:0\r\n`))
    expect(await passwords.has('hunter2')).toBe(false)
  })

  test.each<[string, RequestListener, timeoutMs?: number]>([
    ['never answers', () => {}, 2000],
    ['answers one byte and waits', (_request, response) => response.write('0'), 2000],
    ['answers 500', (_request, response) => response.writeHead(500).end(`${rest}:1`)],
    [
      'redirects',
      (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    ],
    ['answers without end', (_request, response) => response.end('A'.repeat(3_000_000))],
    ['hangs up', (request) => request.socket.destroy()],
  ])('that %s accepts the password, and is left alone for a while', async (_name, answer, timeoutMs) => {
    const { passwords, asked, errors } = await ask(answer, timeoutMs)
    expect(await passwords.has('hunter2')).toBe(false)
    expect(await passwords.has('hunter2')).toBe(false)
    expect(asked).toHaveLength(1)
    expect(errors).toHaveLength(1)
    expect(String(errors[0])).not.toContain(hashOf('hunter2').slice(0, 5))
  })

  test('that is not set is not asked', async () => {
    expect(await new LeakedPasswords({ url: undefined, onError: () => {} }).has('hunter2')).toBe(false)
  })
})
