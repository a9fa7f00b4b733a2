import { limits } from '@keyward/contract'
import type { OfOwner } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { type Db, lock, prepared, type Tx } from '../../db/index.ts'
import type { AccountRow, OwnerRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type CurrentPlan, limitsOf, type OwnLimits, type PlanLimits, planOf } from './plan.rules.ts'

/** The vendor account of the person with this address. */
export const findOwnerByEmail = (db: Db, emailNormalized: string): Promise<OwnerRow | undefined> =>
  db
    .selectFrom('owners')
    .innerJoin('accounts', 'accounts.id', 'owners.account_id')
    .selectAll('owners')
    .where('accounts.email_normalized', '=', emailNormalized)
    .executeTakeFirst()

/** A vendor account, and its owner's address. */
export type ListedOwner = OwnerRow & Pick<AccountRow, 'email' | 'email_normalized'>

/** For the operator: a page of vendor accounts by the owner's address, starting after `emailNormalized`. */
export const listOwnersAfter = (db: Db, emailNormalized: string, count: number): Promise<ListedOwner[]> =>
  db
    .selectFrom('accounts')
    .innerJoin('owners', 'owners.account_id', 'accounts.id')
    .selectAll('owners')
    .select(['accounts.email', 'accounts.email_normalized'])
    .where('accounts.email_normalized', '>', emailNormalized)
    .orderBy('accounts.email_normalized')
    .limit(count)
    .execute()

export const getOwner = (db: Db, scope: OfOwner): Promise<OwnerRow> =>
  db.selectFrom('owners').selectAll().where('id', '=', scope.ownerId).executeTakeFirstOrThrow()

/** Reads an owner and locks the row until the transaction ends. */
export const lockOwner = (tx: Tx, scope: OfOwner): Promise<OwnerRow> =>
  lock(tx, tx.selectFrom('owners').selectAll().where('id', '=', scope.ownerId)).executeTakeFirstOrThrow()

/** Locks a vendor account. A call of its owner may have begun before the account was handed over. */
export async function refuseFormerOwner(tx: Tx, actor: OfOwner & { actorId: string }): Promise<void> {
  const owner = await lockOwner(tx, actor)
  if (owner.account_id !== actor.actorId) throw problem('permission_missing')
}

/** Whether the server has any vendor account, so it takes no scope. */
export const hasOwners = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('owners').select('id').limit(1).executeTakeFirst()) !== undefined

/** The vendor account that a person owns. */
export const findOwnerOf = (db: Db, accountId: string): Promise<OwnerRow | undefined> =>
  db.selectFrom('owners').selectAll().where('account_id', '=', accountId).executeTakeFirst()

/** Hands a vendor account over to another person. The caller has locked it. */
export async function setOwnerAccount(tx: Tx, scope: OfOwner, accountId: string): Promise<void> {
  await tx.updateTable('owners').set({ account_id: accountId }).where('id', '=', scope.ownerId).execute()
}

/** Deletes a vendor account with all rows that belong to it. */
export async function deleteOwner(tx: Tx, scope: OfOwner): Promise<void> {
  await tx.deleteFrom('owners').where('id', '=', scope.ownerId).execute()
}

export async function insertOwner(
  tx: Tx,
  owner: Pick<OwnerRow, 'id' | 'account_id' | 'name' | 'created_at'>,
): Promise<void> {
  await tx
    .insertInto('owners')
    .values({ ...owner, premium_until: null })
    .execute()
}

/** What the operator sets, and the switch that stops the programs with it. */
type OperatorColumns = OwnLimits &
  Pick<OwnerRow, 'disabled_at' | 'pause_applications' | 'paused_before' | 'max_mails' | 'mails_trusted'>

/** Sets what the operator decides about a vendor account. */
export const setByOperator = (tx: Tx, scope: OfOwner, change: Partial<OperatorColumns>): Promise<void> =>
  updateOwner(tx, scope, change)

async function updateOwner(
  tx: Tx,
  scope: OfOwner,
  change: Partial<Pick<OwnerRow, 'premium_until' | 'premium_cancelled_at'> & OperatorColumns>,
): Promise<void> {
  await tx.updateTable('owners').set(change).where('id', '=', scope.ownerId).execute()
}

/** Sets the end of premium (milliseconds since 1970, null for free) and when it was cancelled. */
export const setPremiumUntil = (
  tx: Tx,
  scope: OfOwner,
  until: number | null,
  cancelledAt: number | null = null,
): Promise<void> => updateOwner(tx, scope, { premium_until: until, premium_cancelled_at: cancelledAt })

export const setPremiumCancelled = (tx: Tx, scope: OfOwner, at: number): Promise<void> =>
  updateOwner(tx, scope, { premium_cancelled_at: at })

export const currentPlan = (
  { config, clock }: Pick<Ctx, 'config' | 'clock'>,
  { premium_until }: Pick<OwnerRow, 'premium_until'>,
): CurrentPlan => planOf(premium_until, clock.now(), config.defaultPlan)

/** The limits of the owner's current plan, or those that the operator has set in their place. */
export async function getLimits(
  ctx: Pick<Ctx, 'config' | 'clock' | 'db'>,
  scope: OfOwner,
): Promise<PlanLimits> {
  const owner = await getTerms(ctx, scope)
  return limitsOf(currentPlan(ctx, owner).plan, owner)
}

/** Bytes that the owner, and each of its resellers, may add to the audit log and to stored answers in an hour. */
export const getRecordBytesPerHour = async (ctx: Ctx, scope: OfOwner): Promise<number> =>
  limits.recordBytesPerHour[currentPlan(ctx, await getTerms(ctx, scope)).plan]

/** Bytes of files that the owner's imports may keep. */
export const getImportBytes = async (
  ctx: Pick<Ctx, 'config' | 'clock' | 'db'>,
  scope: OfOwner,
): Promise<number> => limits.importBytesMax[currentPlan(ctx, await getTerms(ctx, scope)).plan]

async function getTerms(
  ctx: Pick<Ctx, 'db'>,
  scope: OfOwner,
): Promise<OwnLimits & Pick<OwnerRow, 'premium_until'>> {
  const [owner] = await termsOf.run(ctx.db, { id: scope.ownerId })
  if (!owner) throw new Error('there is no such owner')
  return owner
}

const termsOf = prepared((db, values: { id: string }) =>
  db
    .selectFrom('owners')
    .select(['premium_until', 'max_apps', 'max_licenses_per_app'])
    .where('id', '=', values.id),
)

/** What a vendor may mail to buyers and customers. */
export interface MailTerms {
  isConfirmed: boolean
  perDay: number
  isPremium: boolean
  /** Whether it writes these mails itself; else they have the server's own words. */
  hasOwnWords: boolean
}

/** Where strangers can register, they must not let the server mail what they like to whom they like. */
export async function readMailTerms(
  ctx: Pick<Ctx, 'config' | 'clock'>,
  db: Db,
  scope: OfOwner,
): Promise<MailTerms> {
  const owner = await db
    .selectFrom('owners as o')
    .innerJoin('accounts as a', 'a.id', 'o.account_id')
    .select(['o.premium_until', 'o.max_mails', 'o.mails_trusted', 'a.confirmed_email', 'a.email_normalized'])
    .where('o.id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()
  const isOpen = ctx.config.registration === 'open' && ctx.config.smtpUrl !== undefined
  const isPremium = currentPlan(ctx, owner).plan === 'premium'
  const isLimited = isOpen && !isPremium
  return {
    isConfirmed: !isOpen || owner.mails_trusted === 1 || owner.confirmed_email === owner.email_normalized,
    perDay: owner.max_mails ?? (isLimited ? limits.freeBuyerMailsPerDay : limits.buyerMailsPerDay),
    isPremium,
    hasOwnWords: !isLimited,
  }
}
