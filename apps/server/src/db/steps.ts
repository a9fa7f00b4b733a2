import type { Actor } from '../core/actor.ts'
import type { Tx } from './tables.ts'

/** The transaction that stores a step. */
export interface StepTransaction {
  tx: Tx
  now: number
  spend(bytes: number): void
}

/** A part of a request with an Idempotency-Key: one transaction, or the slices of long work. */
export interface Step {
  /** What an earlier request with this key has stored. */
  stored: { result: unknown } | undefined
  /** Stores the result together with what the transaction changes; a repeat continues after it. */
  store(write: StepTransaction, result: unknown): Promise<void>
  /** Reports that the transaction which stored it was committed. */
  committed(): void
}

/** The steps of a request with an Idempotency-Key, in the order of its calls. */
export interface Steps {
  /** The id of what is stored for repeats. */
  id: string
  next(): Promise<Step>
  /** Packs the long result of the next step before its transaction, so that no other write waits for that. */
  pack(result: unknown): Promise<void>
}

/** The steps of the request that this actor makes; undefined without an Idempotency-Key. */
export const stepsOf = (actor: Actor): Steps | undefined =>
  'steps' in actor ? (actor.steps as Steps | undefined) : undefined
