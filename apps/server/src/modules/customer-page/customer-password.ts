import type { BodyOf, endpoints } from '@keyward/contract'
import type { CustomerActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { callerOf } from '../../core/networks/caller.ts'
import { invalid, problem } from '../../core/problem.ts'
import { type Allowance, guardPassword } from '../../service/attempts.ts'
import { keepSession, proofOf } from '../customer-sessions/customer-sessions.access.ts'
import { deleteTokensOf } from '../devices/device-tokens.access.ts'
import { findById, lockEndUser } from '../end-users/end-users.access.ts'
import { updateEndUser } from '../entitlements/end-user-rows.ts'
import { accountOf, refuseLeakedPassword } from '../program/program.service.ts'
import { endProgramSessionsOf } from '../sessions/program-sessions.access.ts'
import * as repo from './customer-page.repo.ts'
import { type CustomerPageDeps, getPage } from './customer-page.service.ts'
import { maySetPassword, partsOf } from './customer-self.ts'

type NewPassword = BodyOf<typeof endpoints.customerPage.setPassword>

const changes: Allowance = { name: 'customer password', max: 20, windowMs: 60 * minute }

/** Sets the password of an end user; its programs, its remembered sign-ins and its other sessions end. */
export async function setPassword(
  deps: CustomerPageDeps,
  actor: CustomerActor,
  { client: named, currentPassword, newPassword }: NewPassword,
): Promise<void> {
  const { ctx, attempts } = deps
  const { subject } = actor
  if (subject.kind === 'license') throw problem('customer_key_session')
  const page = await getPage(ctx.db, actor.appId)
  const id = await chosen(deps, actor, named)
  const before = await findById(ctx.db, actor.appId, id)
  if (!before) throw problem('not_found')
  if (before.password_hash === null) throw problem('signs_in_by_key')
  if (!actor.byMail) {
    const account = accountOf({ app: page }, normalizeName(before.username))
    const isRight = await guardPassword(attempts, { account, address: actor.address }, async (turn) =>
      (await ctx.passwords.verify(before.password_hash, currentPassword ?? '', turn)) ? true : undefined,
    )
    if (!isRight) throw invalid('currentPassword', 'This is not your current password')
  }
  await attempts.count(changes, id)
  await refuseLeakedPassword(deps, { checkPasswords: page.check_passwords === 1 }, newPassword)
  const passwordHash = await ctx.passwords.hash(newPassword, callerOf(actor))
  await ctx.tx(actor, async (write) => {
    const locked = await lockEndUser(write.tx, actor, id)
    if (!locked) throw problem('not_found')
    // A password that was set meanwhile has ended this session.
    if (locked.password_hash !== before.password_hash) throw problem('unauthorized')
    await updateEndUser(write.tx, actor, id, { password_hash: passwordHash })
    await endProgramSessionsOf(write.tx, [id])
    await deleteTokensOf(write.tx, actor, id)
    if (subject.kind === 'end_user')
      await keepSession(write.tx, actor.sessionId, proofOf(ctx.seal, subject, passwordHash))
    write.record('end_user.password_set', id, {}, actor.appId)
  })
}

/** The end user whose password the session sets; the only one if none is named. */
async function chosen(
  deps: CustomerPageDeps,
  actor: CustomerActor,
  named: string | undefined,
): Promise<string> {
  const { clients } = await partsOf(deps, actor)
  const ids = clients.map(({ id }) => id).filter((id) => named === undefined || id === named)
  if (ids.length === 0) throw problem('not_found')
  const details = await repo.listDetails(deps.ctx.db, actor, ids)
  const able = details.filter((one) => maySetPassword(actor.subject, one))
  if (able.length > 1) throw invalid('client', 'Say whose password it is')
  const [only] = able
  if (only) return only.id
  throw problem(details.some(({ has_password }) => has_password === 0) ? 'signs_in_by_key' : 'not_found')
}
