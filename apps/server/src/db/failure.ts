/** The database cannot be reached or does not respond; `code` is that of the cause. */
export class DatabaseUnavailableError extends Error {
  readonly code: string | undefined

  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnavailableError'
    this.code = codeOf(cause)
  }
}

/** A synchronous standby of PostgreSQL has not confirmed a commit, or is known not to confirm any. */
export class StandbyAwayError extends DatabaseUnavailableError {
  constructor() {
    super('Commits wait for a synchronous standby of PostgreSQL')
    this.name = 'StandbyAwayError'
  }
}

/** The connection broke during a COMMIT, so that its outcome is not known. */
export class CommitInDoubtError extends DatabaseUnavailableError {
  /** Whether the transaction has ended since, so that what it stored can be read. */
  readonly hasEnded: boolean

  constructor(hasEnded: boolean, cause: unknown) {
    const broke = 'The connection to PostgreSQL broke during a commit'
    super(cause instanceof StandbyAwayError ? cause.message : broke, cause)
    this.hasEnded = hasEnded
  }
}

/** A transaction of the same commit made SQLite roll all of it back; what fails with this can be tried again. */
export class NeighborFailedError extends Error {
  readonly errcode: unknown

  constructor(cause: unknown) {
    super('a transaction of the same commit failed', { cause })
    this.errcode = (cause as { errcode?: unknown }).errcode
  }
}

/** Why a database failed, when neither the caller nor the program is at fault. */
export type StorageFailure = 'storage_full' | 'database_unavailable'

const sqlite = { busy: 5, locked: 6, readOnly: 8, ioError: 10, full: 13, cannotOpen: 14 }
const sqliteSyncFailed = 1034
// On a full disk SQLite cannot enlarge its shared memory and reports this separate error code.
const sqliteSharedMemorySize = 4874
const postgresDiskFull = '53100'
const postgresReadOnly = '25006'
const postgresLockTimeout = '55P03'
/** Read-only, short of resources, waited too long for a lock, a canceled or timed out statement, or a failing disk. */
const postgresUnavailable = new RegExp(`^(?:${postgresReadOnly}|${postgresLockTimeout}|53...|57014|58...)$`)

export function storageFailureOf(error: unknown): StorageFailure | undefined {
  if (error instanceof DatabaseUnavailableError) return 'database_unavailable'
  const code = codeOf(error)
  if (code === postgresDiskFull) return 'storage_full'
  if (code !== undefined && postgresUnavailable.test(code)) return 'database_unavailable'
  const errcode = (error as { errcode?: unknown } | null)?.errcode
  if (typeof errcode !== 'number') return undefined
  if (errcode === sqliteSharedMemorySize) return 'storage_full'
  const { full, ...others } = sqlite
  const primary = errcode & 0xff
  if (primary === full) return 'storage_full'
  return Object.values(others).includes(primary) ? 'database_unavailable' : undefined
}

/**
 * Whether PostgreSQL undid, or will undo, the transaction although its work was valid: the connection broke before the
 * COMMIT, another transaction kept a lock, or a failover is under way.
 */
export const isUndoneByPostgres = (error: unknown): boolean =>
  (error instanceof DatabaseUnavailableError && !(error instanceof CommitInDoubtError)) ||
  isPostgresReadOnly(error) ||
  codeOf(error) === postgresLockTimeout

/** Whether the same transaction may succeed when it is repeated at once. */
export function isTransient(error: unknown): boolean {
  const [serializationFailure, deadlockDetected] = ['40001', '40P01']
  if (error instanceof NeighborFailedError) return true
  return codeOf(error) === serializationFailure || codeOf(error) === deadlockDetected
}

/** Whether a write failed because of a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown }
  const [sqliteUnique, sqlitePrimaryKey, postgresUnique] = [2067, 1555, '23505']
  return codeOf(error) === postgresUnique || errcode === sqliteUnique || errcode === sqlitePrimaryKey
}

/** Whether a row that the write refers to was deleted meanwhile, which SQLite rules out. */
export function isGoneReference(error: unknown): boolean {
  const postgresForeignKey = '23503'
  return codeOf(error) === postgresForeignKey
}

/** Whether PostgreSQL accepts no writes, because it is a standby or was set to be read-only. */
export const isPostgresReadOnly = (error: unknown): boolean => codeOf(error) === postgresReadOnly

/** Whether another process holds the lock that SQLite needed. */
export function isSqliteBusy(error: unknown): boolean {
  const errcode = (error as { errcode?: unknown } | null)?.errcode
  return typeof errcode === 'number' && (errcode & 0xff) === sqlite.busy
}

/** Whether a statement wanted to write on a connection that only reads. */
export function isSqliteReadOnly(error: unknown): boolean {
  const errcode = (error as { errcode?: unknown } | null)?.errcode
  return typeof errcode === 'number' && (errcode & 0xff) === sqlite.readOnly
}

/** Whether the system did not store what SQLite had written before. */
export const isSqliteSyncFailure = (error: unknown): boolean =>
  (error as { errcode?: unknown } | null)?.errcode === sqliteSyncFailed

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}
