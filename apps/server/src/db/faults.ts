import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { isDiskFull, toMegabytes } from './disk-room.ts'
import { DatabaseUnavailableError } from './failure.ts'

type Fault = Error & { code?: string; errcode?: number; syscall?: string; path?: string }

/** Explains why the database cannot be used; undefined for errors that the operator did not cause. */
export function databaseFault(error: unknown, config: Config): OperatorError | undefined {
  if (error instanceof OperatorError) return undefined
  const line =
    config.databaseUrl === undefined ? embeddedFault(error as Fault, config) : postgresFault(error as Fault)
  return line === undefined ? undefined : new OperatorError(line)
}

const [sqliteReadOnly, sqliteCorrupt, sqliteCannotOpen, sqliteNoDatabase] = [8, 11, 14, 26]
/** Migrations change at most about as much as the database has. */
const leastFreeBytes = 8_000_000

function embeddedFault(error: Fault, { dataDir }: Config): string | undefined {
  if (error instanceof DatabaseUnavailableError) return `Nothing was changed: ${error.message}.`
  const { code, errcode = 0, path } = error
  switch (errcode & 0xff) {
    case sqliteCorrupt:
    case sqliteNoDatabase:
      return `The database in ${dataDir} is damaged. Nothing was changed: restore a backup.`
    case sqliteReadOnly:
    case sqliteCannotOpen:
      return `DATA_DIR ${dataDir} cannot be written to.`
  }
  // Errors of a write name no path.
  if (isDiskFull(error)) {
    const size = statSync(join(dataDir, 'keyward.db'), { throwIfNoEntry: false })?.size ?? 0
    return `The disk of DATA_DIR ${dataDir} is full: free ${toMegabytes(Math.max(size, leastFreeBytes))} MB, then retry.`
  }
  if (path === undefined || !(path.startsWith(dataDir) || dataDir.startsWith(path))) return undefined
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `DATA_DIR ${dataDir} is not a directory.`
    case 'EISDIR':
      return `${path} is a directory, but must be a file.`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT':
      return `Not allowed to use ${path}. DATA_DIR must be a directory that Keyward can write to.`
  }
  return undefined
}

const unreachable = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)$/
const timedOut =
  /does not answer|connection timeout|timeout exceeded when trying to connect|terminated unexpectedly/i

function postgresFault(error: Fault): string | undefined {
  const { code = '', message, syscall, path } = error
  const at = 'The database of DATABASE_URL'
  if (syscall === 'open' && path !== undefined) return `DATABASE_URL names ${path}, which cannot be read.`
  if (unreachable.test(code) || timedOut.test(message)) return `${at} cannot be reached.`
  if (code === '28P01' || code === '28000' || /client password must be/.test(message))
    return `${at} refuses the user or the password.`
  if (code === '3D000') return `${at} does not exist: create it, then retry.`
  if (code === '42501') return `${at} does not give this user the right to create tables. (${message})`
  if (code === '25006') return `${at} is read-only.`
  if (code === '53300') return `${at} has no connection left.`
  if (code.startsWith('57P')) return `${at} is starting or stopping. Retry in a moment.`
  if (code === 'XX001' || code === 'XX002') return `${at} is damaged: restore a backup. (${message})`
  if (/does not support SSL/i.test(message)) return `${at} does not offer TLS, but DATABASE_URL asks for it.`
  if (/certificate/i.test(`${code} ${message}`))
    return `${at} has a certificate that is not trusted. (${message})`
  return error instanceof DatabaseUnavailableError ? `${at} cannot be used. (${message})` : undefined
}
