import type { DataOf, endpoints } from '@keyward/contract'
import type { Actor, ResellerActor, VendorActor } from '../../core/actor.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Holder } from '../sessions/sessions.service.ts'

/** The calls of one kind of holder, and what a sign-in answers. */
export type Calls = (typeof endpoints)['secondFactor'] | (typeof endpoints)['portalSecondFactor']
export type SignedIn = DataOf<Calls['complete']>

/** A signed-in person, whose factors they are. */
export interface Self {
  actor: Actor
  holder: Holder
  /** Locks the account and returns its address; throws if the session has ended meanwhile. */
  lock: (write: WriteTransaction) => Promise<{ email: string }>
}

/** Uses up a challenge and what was shown for it; throws if one of them was used before. */
export type Take = (write: WriteTransaction) => Promise<void>

/** The calls that ask for a factor. */
export type AskingCall = 'login' | 'reset' | 'invitation'

/** A call that asked for a factor, which was shown now. */
export interface Asked {
  call: AskingCall
  holder: Holder
  /** What the call stored with `askForFactor`. */
  state: unknown
  /** Belongs in the transaction that does what the call wanted. */
  take: Take
  address: string
}

/** How a kind of holder signs in. */
export interface Holders {
  kind: Holder['kind']
  selfOf: (actor: VendorActor | ResellerActor) => Self
  /** Does what a call wanted that had asked for a factor. */
  goOn: (asked: Asked) => Promise<SignedIn>
  /** Signs in with a passkey alone. */
  signIn: (shown: { holder: Holder; take: Take; address: string }) => Promise<SignedIn>
}
