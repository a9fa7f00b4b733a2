import type { OwnerScope } from '../core/actor.ts'
import type { Seal } from '../core/crypto.ts'
import type { Tx, WriteTransaction } from '../db/index.ts'
import type { TableOwner } from '../db/owned-tables.ts'
import type { Ctx } from '../service/ctx.ts'

/** What a module says of its data. The operator's commands read it too, without a running server. */
export interface Description extends TableOwner {
  /** Deletes what has become old; rows of tables that expire are deleted without it. */
  tidy?(ctx: TidyCtx): Promise<unknown>
  /** Removes an app from lists that name it, in the transaction that deletes the app. */
  forgetApp?(write: WriteTransaction, scope: OwnerScope, appId: string): Promise<unknown>
  /** Replaces, removes or pauses what a lost secret key sealed, and says what it was. */
  loseKey?(lost: LostKey): Promise<Partial<LostKeyReport>>
}

export type TidyCtx = Pick<Ctx, 'clock' | 'config' | 'database' | 'db' | 'seal' | 'tx'>

/** A secret key that is lost, with the new one. */
export interface LostKey {
  tx: Tx
  seal: Seal
  now: number
}

/** What was replaced, and what was lost. */
export interface LostKeyReport {
  /** Their programs have to be shipped again, with the new secret and public key. */
  apps: { id: string; appId: string; name: string; vendor: string }[]
  /** Apps whose programs of another system need the new secret and public key. */
  otherPrograms: string[]
  /** Apps without their variables now. */
  appVariables: string[]
  endUserVariables: number
  /** Addresses of people, and ids of resellers, without an authenticator app and recovery codes now. */
  factors: string[]
  /** Paused; their address has no path any more. */
  webhooks: { id: string; origin: string; vendor: string }[]
  /** Paused until somebody types their secrets again. */
  shops: { id: string; name: string; vendor: string }[]
  mails: number
  resetRequests: number
  imports: string[]
  lazyMoves: string[]
  /** Erasures of customers that had not ended: somebody has to erase what is left. */
  erasures: { customer: string; vendor: string }[]
  /** Erased persons that a late event of a shop may bring back. */
  erasedUnknown: number
  customerSessions: number
  storedAnswers: number
}
