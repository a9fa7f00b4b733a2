import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '@keyward/contract'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem, problem } from '../core/problem.ts'
import { type StorageFailure, storageFailureOf } from '../db/failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the answer if it refuses the call, for the log and the metrics. */
    failureCode?: string | undefined
    /** The account that asks, for the log. */
    account?: string | undefined
  }
}

export interface Failure {
  success: false
  code: string
  message: string
  errors?: { path: string; message: string }[]
  requestId?: string
  details?: object
}

/** Maps any thrown error to a response; the cause of a 500 appears only in the log. */
export function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  const known = fromFramework(error as FastifyError)
  if (known) return known
  // The client disconnected before the body was complete, so this response reaches no client.
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ECONNRESET' && request.raw.destroyed && !request.raw.complete) return problem('bad_request')
  const failure = logStorageFailure(error, request.log)
  if (failure === 'database_unavailable') return problem(failure, { retryAfterSeconds: 5 })
  if (failure) return problem(failure)
  request.log.error({ err: error, method: request.method, url: request.routeOptions.url }, 'request failed')
  return problem('internal')
}

const logStorageEveryMs = 10_000
const loggedAt = new Map<StorageFailure, number>()

/**
 * Logs a database failure and returns its kind; undefined for other errors. Logs at most one line per kind in ten
 * seconds, because during an outage every request fails.
 */
export function logStorageFailure(error: unknown, log: FastifyBaseLogger): StorageFailure | undefined {
  const failure = storageFailureOf(error)
  const now = performance.now()
  if (!failure || now - (loggedAt.get(failure) ?? Number.NEGATIVE_INFINITY) < logStorageEveryMs)
    return failure
  loggedAt.set(failure, now)
  log.error({ code: failure, reason: (error as Error).message }, 'the database fails')
  return failure
}

function fromFramework(error: FastifyError): Problem | undefined {
  switch (error.code) {
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return problem('not_found')
    default:
      return undefined
  }
}

export function toFailure(found: Problem, request: FastifyRequest): Failure {
  request.failureCode = found.code
  return {
    success: false,
    code: found.code,
    message: found.message,
    errors: found.issues,
    requestId: found.status === 500 ? request.id : undefined,
    details: found.details,
  }
}

export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): Failure {
  const found = toProblem(error, request)
  reply.code(found.status)
  if (found.allow !== undefined) reply.header('allow', found.allow)
  if (found.retryAfterSeconds !== undefined) reply.header('retry-after', found.retryAfterSeconds)
  return toFailure(found, request)
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.send(answerProblem(error, request, reply))
}

/** Answers bytes that could not be parsed as a request; no hook or route sees them. */
export function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy()
    return
  }
  const found = problem(codeOfBroken(error.code))
  const body = JSON.stringify({ success: false, code: found.code, message: found.message })
  const head = [
    `HTTP/1.1 ${found.status} ${STATUS_CODES[found.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    'connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}

function codeOfBroken(code: string | undefined): ErrorCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request'
}

export function installErrors(server: FastifyInstance): void {
  server.setErrorHandler(sendProblem)
}
