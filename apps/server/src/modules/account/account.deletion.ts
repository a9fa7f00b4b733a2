import type { AccountActor, Actor, OwnerScope, PersonActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { deleteDeliveriesOf, deleteRecordsOf } from '../../db/deletions.ts'
import { type Db, inSlices, type Transactions, type WriteTransaction } from '../../db/index.ts'
import type { OwnerRow } from '../../db/tables.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { deleteAnswers } from '../../service/stored-answers.ts'
import * as accounts from '../accounts/accounts.service.ts'
import { listVendors } from '../members/members.access.ts'
import * as owners from '../owners/owners.service.ts'
import { awaitsPayment } from '../payments/subscription.service.ts'
import { confirmPassword } from './account.service.ts'
import { leaveTeam } from './account.vendors.ts'

/**
 * Deletes a person's account with its memberships and sessions, and its own vendor account, which must have no apps. What the
 * person did at other vendors stays in their audit logs.
 */
export async function deleteAccount(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  proof: { password: string; address: string },
): Promise<void> {
  const { actorId, sessionId } = actor
  await confirmPassword(ctx, attempts, actor, { path: 'password', ...proof })
  const own = await owners.findOwnerOf(ctx.db, actorId)
  if (own) await refuseInUse(ctx, ctx.db, own)
  for (const vendor of await listVendors(ctx.db, actorId)) {
    if (vendor.access.role !== 'owner') await leaveTeam(ctx, actor, vendor)
  }
  if (own) await deleteHistory(ctx, { ...actor, ownerId: own.id })
  const { address } = proof
  const person: AccountActor = { kind: 'account', ownerId: null, actorId, sessionId, address }
  const remove = async (write: WriteTransaction): Promise<void> => {
    const { tx } = write
    if (own) {
      const locked = await owners.lockOwner(tx, { ownerId: own.id })
      // It was handed over meanwhile, and the person is a manager there.
      if (locked.account_id !== actorId) throw problem('conflict')
      await refuseInUse(ctx, tx, locked)
      await owners.deleteOwner(tx, { ownerId: own.id })
    }
    if (!(await accounts.lockAccount(tx, actorId))) throw problem('unauthorized')
    // A vendor was handed over to the person meanwhile, and would be left without an owner.
    if (await owners.findOwnerOf(tx, actorId)) throw problem('conflict')
    await accounts.deleteAccount(tx, actorId)
    write.record('account.deleted', actorId, {})
  }
  await ctx.tx(person, remove, { onGone: () => problem('conflict') })
}

async function refuseInUse(ctx: Ctx, db: Db, owner: OwnerRow): Promise<void> {
  if (owner.app_count > 0) throw problem('account_owns_apps')
  if (await awaitsPayment(ctx, db, { ownerId: owner.id })) {
    const message =
      'A payment or a refund of your vendor account is still being processed. Please try again later.'
    throw problem('payment_pending', { message })
  }
}

/** Deletes what may have many rows: with the vendor account they would all go in one statement. */
export async function deleteHistory(ctx: Transactions, actor: Actor & OwnerScope): Promise<void> {
  await inSlices(ctx, actor, async ({ tx }, size) => ({ found: await deleteAnswers(tx, actor, size) }))
  await inSlices(ctx, actor, async ({ tx }, size) => ({
    found: await deleteRecordsOf(tx, actor.ownerId, size),
  }))
  await inSlices(ctx, actor, async ({ tx }, size) => ({
    found: await deleteDeliveriesOf(tx, actor.ownerId, size),
  }))
}
