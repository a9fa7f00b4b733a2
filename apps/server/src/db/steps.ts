import type { Actor } from '../core/actor.ts'
import type { Tx } from './tables.ts'

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
