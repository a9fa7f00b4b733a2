import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Actor } from '../core/actor.ts'
import { syntaxOf } from './engine.ts'
import {
  CommitInDoubtError,
  DatabaseUnavailableError,
  isGoneReference,
  isTransient,
  isUndoneByPostgres,
  isUniqueViolation,
  NeighborFailedError,
} from './failure.ts'
import { connectionOf, forgetOwnConnection, setOwnConnection } from './statements.ts'
import type { Db, Tables, Tx } from './tables.ts'

export interface TransactionOptions {
  /** How many rows it reads or writes: many of them must not delay other calls. */
  rows?: number
  /**
   * It waits while PostgreSQL does not respond, and is repeated if PostgreSQL undid it. Other transactions fail then,
   * within five seconds.
   */
  isPatient?: boolean
  /** False for work that changes nothing when it is repeated. */
  isStep?: boolean
  /** Made and thrown if a unique index forbids a row. */
  onTaken?: () => Error
  /** Made and thrown if a row that another one belongs to was deleted meanwhile. */
  onGone?: () => Error
}

const manyRows = 50
/** Whether a transaction of so many rows is a long one. */
export const isMany = (rows: number): boolean => rows > manyRows

const patienceMs = 60_000
const retryMs = 250
const attemptsMost = 6

/**
 * Runs `work` in one transaction; retries serialization failures, deadlocks, and after the failure of a transaction
 * with the same commit. `isStored` reads whether the rows of a patient one exist, after its commit got no response;
 * without it, or without rows, such a transaction must not change anything when it is repeated.
 */
export async function transact<T>(
  db: Kysely<Tables>,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
  isStored: (result: T) => Promise<boolean> = async () => false,
): Promise<T> {
  try {
    return await transactUntilDone(db, work, options, isStored)
  } catch (error) {
    if (options.onTaken && isUniqueViolation(error)) throw options.onTaken()
    if (options.onGone && isGoneReference(error)) throw options.onGone()
    throw error
  }
}

async function transactUntilDone<T>(
  db: Kysely<Tables>,
  work: (tx: Tx) => Promise<T>,
  { rows = 1, isPatient = false }: TransactionOptions,
  isStored: (result: T) => Promise<boolean>,
): Promise<T> {
  const isLong = isMany(rows)
  const patientUntil = performance.now() + (isPatient ? patienceMs : 0)
  for (let attempt = 1; ; attempt += 1) {
    let done: { result: T } | undefined
    const workOnce = async (tx: Tx) => {
      const result = await withOwnConnection(tx, work)
      done = { result }
      return result
    }
    try {
      return await begin(db, { isLong, isPatient }, workOnce)
    } catch (error) {
      if (done && error instanceof CommitInDoubtError && error.hasEnded) {
        const { result } = done
        if (await readPatiently(() => isStored(result))) return result
      } else if (isUndoneByPostgres(error) && performance.now() < patientUntil) {
        attempt -= 1
        await pause(retryMs)
        continue
      } else if (!isTransient(error)) throw error
      if (attempt >= attemptsMost) throw error
      // Callers of long ones rely on it, see `inSlices`.
      if (isLong && error instanceof NeighborFailedError) throw error
      await pause(Math.random() * 10 * 2 ** attempt)
    }
  }
}

/** Kysely cannot pass our options to its driver, so they are set on the connection before the transaction begins. */
function begin<T>(
  db: Kysely<Tables>,
  as: { isLong: boolean; isPatient: boolean },
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  if (!as.isLong && !as.isPatient) return db.transaction().execute(work)
  return db.connection().execute(async (one) => {
    const connection = await connectionOf(one)
    connection.beginAs = as
    return one.transaction().execute(work)
  })
}

async function withOwnConnection<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  setOwnConnection(tx, await connectionOf(tx))
  try {
    return await work(tx)
  } finally {
    forgetOwnConnection(tx)
  }
}

/** Repeats a read, or work that can be repeated, while connections break or PostgreSQL does not respond, for at most a minute. */
export async function readPatiently<T>(read: () => Promise<T>): Promise<T> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError) || performance.now() > until) throw error
      await pause(retryMs)
    }
  }
}

/** Whether a transaction of so many rows would keep all other writes waiting. */
export const holdsUpOthers = (db: Db, rows: number): boolean => !syntaxOf(db).locksRows && isMany(rows)

/** A transaction that stores its result for repeats. */
export interface StepTransaction {
  tx: Tx
  now: number
  spend(bytes: number): void
}

/** The first committed transaction of a request with an Idempotency-Key. */
export interface Step {
  /** What an earlier request with this key has committed. */
  stored: { result: unknown } | undefined
  /** Stores the result together with what the transaction changes. */
  store(write: StepTransaction, result: unknown): Promise<void>
  /** Reports that the transaction which stored it was committed. */
  committed(): void
}

/** The transactions of a request with an Idempotency-Key, in the order of its calls. */
export interface Steps {
  /** The id of what is stored for repeats. */
  id: string
  /** Undefined after the first committed transaction; throws then if an earlier request was interrupted there. */
  next(): Step | undefined
  /** Packs the long result of the next transaction before it begins, so that no other write waits for that. */
  pack(result: unknown): Promise<void>
}

/** The steps of the request that this actor makes; undefined without an Idempotency-Key. */
export const stepsOf = (actor: Actor): Steps | undefined =>
  'steps' in actor ? (actor.steps as Steps | undefined) : undefined
