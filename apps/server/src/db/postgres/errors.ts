// ADR 26: what broken connections look like.
import pg from 'pg'
import { DatabaseUnavailableError } from '../failure.ts'

export const doesNotAnswer = (cause?: unknown) =>
  new DatabaseUnavailableError('PostgreSQL does not answer', cause)

export function asConnectError(error: unknown): unknown {
  const isRefused = error instanceof pg.DatabaseError
  return isRefused || isConnectionFault(error) ? asUnavailable(error) : error
}

export const asUnavailable = (error: unknown): DatabaseUnavailableError =>
  error instanceof DatabaseUnavailableError
    ? error
    : new DatabaseUnavailableError((error as Error).message, error)

/** PgBouncer says so when none of its connections to PostgreSQL is left, and the last attempt to open one failed. */
const lostBehindPooler = /server login has been failing/

/** PostgreSQL itself answered with an error, so it is up. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^57P/.test(error.code ?? '') && !lostBehindPooler.test(error.message)

/** A canceled read, or one behind it that relied on its preparation. */
export const isBlocked = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(57014|26000)$/.test(error.code ?? '')

/** A prepared statement is gone, or another node's migration has changed the types of its columns. */
export const isStale = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(26000|0A000)$/.test(error.code ?? '')

const lostMessages = /^Connection terminated|not queryable|^Client was closed|^timeout e|^Query read timeout/

/** PostgreSQL is shutting down, starting up or out of connections, or the connection broke. */
export function isConnectionFault(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (error instanceof pg.DatabaseError) return /^(08...|57P0[1-5]|53300|25P0[34])$/.test(code)
  return /^E[A-Z]{3,}$/.test(code) || lostMessages.test(message)
}
