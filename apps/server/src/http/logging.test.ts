import fastify from 'fastify'
import { expect, test } from 'vitest'
import { loggerOptions } from './logging.ts'

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
