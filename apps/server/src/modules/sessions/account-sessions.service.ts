import type { AccountSession, ResellerSession } from '@keyward/contract'
import type { PersonActor, ResellerActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as access from './account-sessions.access.ts'
import { endSession, type Holder } from './sessions.service.ts'

type SignedIn = PersonActor | ResellerActor

const nounOf = { account: 'owner', reseller: 'reseller' } as const

/** A signed-in person or reseller as the holder of its sessions. */
const holderOf = (actor: SignedIn): Holder =>
  actor.kind === 'reseller'
    ? { kind: 'reseller', id: actor.resellerId }
    : { kind: 'account', id: actor.actorId }

/** Where a reseller is signed in, for its owner. The caller has checked that it is the owner's. */
export async function listResellerSessions(
  { db, clock }: Ctx,
  resellerId: string,
  seesAddresses: boolean,
): Promise<ResellerSession[]> {
  const rows = await access.listSessions(db, { kind: 'reseller', id: resellerId }, clock.now())
  return rows.map((row) => ({
    _id: row.id,
    address: seesAddresses ? row.address : null,
    createdAt: toIso(row.created_at),
    lastUsedAt: toIso(row.last_used_at),
  }))
}

export async function listSessions({ db, clock }: Ctx, actor: SignedIn): Promise<AccountSession[]> {
  const rows = await access.listSessions(db, holderOf(actor), clock.now())
  return rows.map((row) => ({
    _id: row.id,
    current: row.id === actor.sessionId,
    address: row.address,
    agent: row.agent,
    createdAt: toIso(row.created_at),
    lastUsedAt: toIso(row.last_used_at),
  }))
}

export async function endOneSession(ctx: Ctx, actor: SignedIn, sessionId: string): Promise<void> {
  const holder = holderOf(actor)
  await ctx.tx(actor, async (write) => {
    if (!(await endSession(write.tx, holder, sessionId))) throw problem('not_found')
    write.record(`${nounOf[holder.kind]}.session_ended`, holder.id, { session: sessionId })
  })
}

export async function endOtherSessions(ctx: Ctx, actor: SignedIn): Promise<void> {
  const holder = holderOf(actor)
  await ctx.tx(actor, async (write) => {
    const ended = await access.endOtherSessions(write.tx, holder, actor.sessionId)
    // Nothing else bounds how often it is called.
    if (ended > 0) write.record(`${nounOf[holder.kind]}.sessions_ended`, holder.id, {})
  })
}

/** Renews the proof of identity of this session alone. The caller has checked the proof. */
export async function renewProof(write: WriteTransaction, actor: SignedIn): Promise<void> {
  const holder = holderOf(actor)
  // A new password has ended the session while the old one was being checked.
  if (!(await access.setConfirmed(write.tx, holder, actor.sessionId, write.now)))
    throw problem('unauthorized')
  write.record(`${nounOf[holder.kind]}.identity_confirmed`, holder.id, {})
}
