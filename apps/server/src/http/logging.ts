import type { FastifyServerOptions } from 'fastify'
import type { LogWriter } from '../core/log-writer.ts'

const secrets = ['authorization', 'cookie', 'token', 'password', 'secret', 'appSecret', 'session']

/** How the log is written: secrets are left out by their names, at three depths. */
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

/** Type, text and stack; parameters of a failed query and other properties may hold secrets and stay out. */
function toLoggedError(error: Error & { code?: string }) {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack ?? '' }
}
