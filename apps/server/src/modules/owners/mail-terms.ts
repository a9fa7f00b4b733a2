import { limits } from '@keyward/contract'
import type { OfOwner } from '../../core/actor.ts'
import type { Db } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { currentPlan } from './owners.service.ts'

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
