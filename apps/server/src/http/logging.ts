import type { FastifyServerOptions } from 'fastify'
import type { LogWriter } from '../core/log-writer.ts'

const secrets = ['authorization', 'cookie', 'token', 'password', 'secret', 'appSecret', 'session']

/** Logger options; removes secrets by name, three levels deep. */
export function loggerOptions(level: string, stream: Pick<LogWriter, 'write'> | undefined) {
  return {
    level,
    redact: {
      paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[redacted]',
    },
    serializers: { err: toLoggedError },
    ...(stream ? { stream } : {}),
  } satisfies FastifyServerOptions['logger']
}

/** Logs only name, message, code and stack: other properties, such as query parameters, may hold secrets. */
function toLoggedError(error: Error & { code?: string }) {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack ?? '' }
}
