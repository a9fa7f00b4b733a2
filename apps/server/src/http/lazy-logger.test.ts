import fastify from 'fastify'
import { expect, test } from 'vitest'
import { lazyLogger } from './lazy-logger.ts'

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
  server.setChildLoggerFactory(lazyLogger)
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
