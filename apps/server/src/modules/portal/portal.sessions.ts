import type { ResellerActor } from '../../core/actor.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { checkOwnPassword } from '../sessions/sign-in.service.ts'
import { accountOf, getReseller } from './portal.service.ts'

/** Checks the password of the signed-in reseller. */
export async function confirmPassword(
  ctx: Ctx,
  attempts: Attempts,
  actor: ResellerActor,
  proof: { password: string; address: string },
): Promise<void> {
  const { email_normalized, password_hash } = await getReseller(ctx, actor)
  const credentials = { ...proof, account: accountOf(email_normalized) }
  const own = { id: actor.resellerId, passwordHash: password_hash, path: 'password' }
  await checkOwnPassword(ctx, attempts, credentials, own)
}
