import type { ResellerActor } from '../../core/actor.ts'
import { sha256 } from '../../core/crypto.ts'
import type { Ctx } from '../../core/ctx.ts'
import { newToken } from '../../core/ids.ts'
import { newSessionEnd, slidEnd, slide } from '../../core/sessions.ts'
import type { Tx } from '../../db/open.ts'

/** Opens a session of a reseller whose row the transaction has locked, and answers its token. */
export async function openSession(tx: Tx, actor: ResellerActor, now: number): Promise<string> {
  const token = newToken('kwr')
  await tx
    .insertInto('reseller_sessions')
    .values({
      id: actor.sessionId,
      reseller_id: actor.resellerId,
      token_hash: sha256(token),
      created_at: now,
      expires_at: newSessionEnd(now),
    })
    .execute()
  return token
}

/** Resolves a token to its reseller unless suspended; the session's end slides while it is used. */
export async function authenticateReseller(
  ctx: Ctx,
  token: string,
  address: string,
): Promise<ResellerActor | undefined> {
  const session = await ctx.db
    .selectFrom('reseller_sessions as s')
    .innerJoin('resellers as r', 'r.id', 's.reseller_id')
    .select(['s.id', 's.created_at', 's.expires_at', 's.reseller_id', 'r.owner_id', 'r.app_id', 'r.active'])
    .where('s.token_hash', '=', sha256(token))
    .executeTakeFirst()
  const now = ctx.clock.now()
  if (!session || session.active === 0 || session.expires_at <= now) return undefined
  const end = slidEnd(session, now)
  if (end !== undefined) {
    await slide(() =>
      ctx.db.updateTable('reseller_sessions').set({ expires_at: end }).where('id', '=', session.id).execute(),
    )
  }
  return {
    kind: 'reseller',
    resellerId: session.reseller_id,
    ownerId: session.owner_id,
    appId: session.app_id,
    sessionId: session.id,
    address,
  }
}

export async function endSession(ctx: Ctx, actor: ResellerActor): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await write.tx
      .deleteFrom('reseller_sessions')
      .where('id', '=', actor.sessionId)
      .where('reseller_id', '=', actor.resellerId)
      .execute()
    write.record('reseller.signed_out', actor.resellerId, {})
  })
}

export async function endSessions(tx: Tx, resellerId: string): Promise<void> {
  await tx.deleteFrom('reseller_sessions').where('reseller_id', '=', resellerId).execute()
}
