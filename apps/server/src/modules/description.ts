import type { ActionName, EventNoun, Permission } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../core/actor.ts'
import type { Seal } from '../core/crypto.ts'
import type { Tx, WriteTransaction } from '../db/index.ts'
import type { TableOwner } from '../db/owned-tables.ts'
import type { Tables } from '../db/tables.ts'
import type { Ctx } from '../service/ctx.ts'

/** What a module says of its data. The operator's commands read it too, without a running server. */
export interface Description extends TableOwner {
  /** Deletes what has become old; rows of tables that expire are deleted without it. */
  tidy?(ctx: TidyCtx): Promise<unknown>
  /** Removes an app from lists that name it, in the transaction that deletes the app. */
  forgetApp?(write: WriteTransaction, scope: OwnerScope, appId: string): Promise<unknown>
  /** What an erasure of a customer removes. */
  erasure?: Erasure
  /** What the API shows its reader of an event's object; null where no call shows one. */
  objects?: { readonly [Noun in EventNoun]?: ReadObject | null }
  /** What the audit log calls objects, by the prefixes of their ids. */
  names?: Names
  /** How the mail queue checks and updates the rows that mails are about, by the prefix of their ids. */
  mails?: Readonly<Record<string, MailSubject>>
  /** Replaces, removes or pauses what a lost secret key sealed, and says what it was. */
  loseKey?(lost: LostKey): Promise<Partial<LostKeyReport>>
}

export interface TidyCtx extends Pick<Ctx, 'clock' | 'config' | 'database' | 'db' | 'seal' | 'tx'> {
  modules: readonly Description[]
}

/** The steps of an erasure, in their order. An interrupted one begins again, so that each step may be repeated. */
export interface Erasure {
  /** Empties what was written about a person: before anything is deleted, after it, and later once more. */
  written?(ctx: Ctx, actor: VendorActor, person: ErasedPerson): Promise<unknown>
  /** Forgets an end user, in the transaction that deletes it. */
  endUser?(write: WriteTransaction, actor: VendorActor, id: string, person: ErasedPerson): Promise<unknown>
  /** Forgets the person, in slices. */
  person?(ctx: Ctx, actor: VendorActor, person: ErasedPerson): Promise<unknown>
  /** Forgets the person in the transaction that deletes the customer, before that. */
  last?(write: WriteTransaction, actor: VendorActor, person: ErasedPerson): Promise<unknown>
  /** Forgets what has arrived meanwhile, after the customer is deleted. */
  late?(write: WriteTransaction, actor: VendorActor, person: ErasedPerson): Promise<unknown>
}

/** Whom a part of an erasure removes, and the licenses that stay. */
export interface Person {
  /** Normalized. */
  email: string
  endUsers: { id: string; username: string; address: string | null }[]
  licenses: string[]
}

export interface ErasedPerson extends Person {
  /** The id of the customer. */
  id: string
  /** What names the person, in lower case. */
  texts: readonly string[]
}

/** What an event is about, and who reads it. */
export interface Question {
  ctx: Ctx
  maker: VendorActor
  id: string
  appId: string
  detail: Readonly<Record<string, unknown>>
}

export type ReadObject = (question: Question) => Promise<object | undefined>

/** Finds an object in what a list shows. */
export const byId = <T extends { _id: string }>(all: readonly T[], id: string): T | undefined =>
  all.find(({ _id }) => _id === id)

export type Names = Readonly<Record<string, ObjectName>>

export interface ObjectName {
  /** What the object is. */
  kind: string
  /** What a caller needs who reads its name. */
  permission: Permission
  /** The column with the name of an object of an app. */
  column?: readonly [table: keyof Tables, column: string]
  /** The field with its name in the details of records. */
  inDetail?: string
  /** The record of its deletion, which says what it was called. A deleted end user's name is nowhere. */
  deletion?: ActionName
  /** Its changes are changes of the app itself, not of licenses and people. */
  isOfApp?: true
}

export type MailEnd = 'sent' | 'failed' | 'expired' | 'dropped'

export interface MailSubject {
  /** Whether a mail about it may be sent, asked before each attempt; otherwise the mail is dropped. */
  isCurrent(ctx: Pick<Ctx, 'db' | 'seal'>, id: string, mailId: string): Promise<boolean>
  /** Follows the end of a mail, in the transaction that stores it. */
  onEnded(write: WriteTransaction, id: string, end: MailEnd): Promise<void>
}

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
  /** Paused until a person enters their secrets again. */
  shops: { id: string; name: string; vendor: string }[]
  mails: number
  resetRequests: number
  imports: string[]
  lazyMoves: string[]
  /** Unfinished erasures of customers: a person has to erase the remaining data. */
  erasures: { customer: string; vendor: string }[]
  /** Erased persons whose data a late shop event may store again. */
  erasedUnknown: number
  customerSessions: number
  storedAnswers: number
}
