import fastify from 'fastify'
import { expect, test } from 'vitest'
import { LazyLogger, loggerOptions } from './server.ts'

test.each(['authorization', 'cookie', 'token', 'password', 'secret', 'appSecret', 'session'])(
  'redacts a value named %s, up to two objects deep',
  (name) => {
    const lines: string[] = []
    const { log } = fastify({ logger: loggerOptions('info', { write: (line) => void lines.push(line) }) })
    log.info({ [name]: 'hunter2', kept: 'seen' })
    log.info({ request: { [name]: 'hunter2' } })
    log.info({ request: { body: { [name]: 'hunter2' } } })
    expect(lines).toHaveLength(3)
    expect(lines.join('')).toContain('seen')
    expect(lines.filter((line) => line.includes('[redacted]'))).toHaveLength(3)
    expect(lines.filter((line) => line.includes('hunter2'))).toEqual([])
  },
)

test("logs an error's type, code, text and stack, and no other properties", () => {
  const lines: string[] = []
  const { log } = fastify({ logger: loggerOptions('info', { write: (line) => void lines.push(line) }) })
  const err = Object.assign(new Error('query failed'), { code: '23505', parameters: ['hunter2'] })
  log.error({ err })
  expect(Object.keys(JSON.parse(lines[0] as string).err).sort()).toEqual(['code', 'message', 'stack', 'type'])
})

test('a logged line has the request id, and a request without one creates no logger', async () => {
  const lines: string[] = []
  const server = fastify({
    disableRequestLogging: true,
    logger: { level: 'info', stream: { write: (line: string) => lines.push(line) } },
    genReqId: () => 'req-of-this-call',
  })
  let children = 0
  const makeChild = server.log.child
  server.log.child = function (this: unknown, ...args: unknown[]) {
    children += 1
    return Reflect.apply(makeChild, this, args)
  }
  server.setChildLoggerFactory((parent, bindings) => new LazyLogger(parent, bindings))
  server.get('/quiet', async () => 'quiet')
  server.get('/loud', async ({ log }) => {
    log.debug('below the level')
    log.warn({ code: 'x' }, 'text %s', 'filled in')
    log.child({ part: 'inner' }).error('inner text')
    return 'loud'
  })
  await server.inject('/quiet')
  expect(children).toBe(0)
  await server.inject('/loud')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, reqId: 'req-of-this-call', code: 'x', msg: 'text filled in' },
    { level: 50, reqId: 'req-of-this-call', part: 'inner', msg: 'inner text' },
  ])
  await server.close()
})
