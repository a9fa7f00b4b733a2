import type { Member } from '@keyward/contract'
import type { OfOwner, OwnerScope, PersonActor, VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { revokeApiKeys } from '../api-keys/api-keys.access.ts'
import { findAppIds } from '../apps/apps.access.ts'
import { withdrawMails } from '../mail/mail.queue.ts'
import { findOwnerOf, refuseFormerOwner, setOwnerAccount } from '../owners/owners.service.ts'
import { endSessionsAt } from '../sessions/sessions.service.ts'
import * as repo from './members.repo.ts'
import { exceeds, fromStored, type Rights, toStored } from './members.rules.ts'

export async function listMembers({ db }: Pick<Ctx, 'db'>, scope: OfOwner): Promise<Member[]> {
  const rows = await repo.listMembers(db, scope)
  const uses = new Map((await repo.listLastUses(db, scope)).map(({ account_id, at }) => [account_id, at]))
  return rows.map((row) => toMember(row, uses.get(row.account_id ?? '')))
}

/** `usedAt` is when its newest session was used; the stored time outlives the session. */
export function toMember(row: repo.MemberView, usedAt = 0): Member {
  const lastUsedAt = Math.max(usedAt, row.last_used_at ?? 0)
  return {
    _id: row.id,
    name: row.name,
    email: row.account_email ?? row.email ?? '',
    ...{ permissions: null, ...fromStored(row) },
    secondFactor: row.has_factor === 1,
    lastUsedAt: lastUsedAt === 0 ? null : toIso(lastUsedAt),
    invited: row.account_id === null,
  }
}

/** The ids of apps by `_id` or `appId`; a foreign one is missing. Null for all. */
export async function findApps(db: Db, scope: OwnerScope, names: string[] | null): Promise<string[] | null> {
  if (names === null) return null
  const ids = await findAppIds(db, scope, names)
  if (!ids) throw problem('not_found')
  return ids
}

/** A caller cannot grant rights that it does not have. */
export function refuseMore(actor: VendorActor, rights: Rights): void {
  if (exceeds(actor, rights)) throw problem('permission_missing')
}

/** Applies to the next request of the member. */
export async function updateMember(
  ctx: Ctx,
  actor: PersonActor,
  id: string,
  change: Partial<Rights> & { apps?: string[] | null | undefined },
): Promise<Member> {
  const apps = change.apps === undefined ? undefined : await findApps(ctx.db, actor, change.apps)
  const view = await ctx.tx(actor, async (write) => {
    const { tx } = write
    await refuseFormerOwner(tx, actor)
    const found = await repo.lockMember(tx, actor, id)
    if (!found) throw problem('not_found')
    const before = fromStored(found)
    const { role = before.role, permissions = role === 'custom' ? before.permissions : undefined } = change
    // The call names a role with its permissions, or permissions for a role that the member has.
    if (role !== 'custom' && permissions)
      throw invalid('permissions', 'Only the role `custom` has permissions')
    const after = {
      role,
      ...(permissions && { permissions: [...permissions] }),
      apps: apps === undefined ? before.apps : apps,
    }
    refuseMore(actor, after)
    await repo.updateMember(tx, actor, id, toStored(after))
    write.record('member.updated', id, { before, after })
    return repo.findMember(tx, actor, id)
  })
  if (!view) throw problem('not_found')
  return toMember(view)
}

/** Ends the member's access, or withdraws the invitation. */
export async function removeMember(ctx: Ctx, actor: PersonActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { tx } = write
    await refuseFormerOwner(tx, actor)
    const found = await repo.lockMember(tx, actor, id)
    if (!found) throw problem('not_found')
    await repo.deleteMember(tx, actor, id)
    if (found.account_id === null) await withdrawMails(write, id)
    if (found.account_id !== null) await endSessionsAt(tx, actor, found.account_id)
    write.record('member.removed', id, { email: found.email, account: found.account_id })
  })
}

/** Hands the vendor account over: the member becomes its owner, and the owner a manager with all apps. */
export async function makeOwner(ctx: Ctx, actor: PersonActor, id: string): Promise<void> {
  await ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      await refuseFormerOwner(tx, actor)
      const member = await repo.lockMember(tx, actor, id)
      if (!member) throw problem('not_found')
      const { account_id: next } = member
      if (next === null) throw problem('invitation_open')
      if (await findOwnerOf(tx, next)) throw problem('owns_vendor')
      await repo.deleteMember(tx, actor, id)
      await setOwnerAccount(tx, actor, next)
      await revokeApiKeys(write, actor)
      // The former owner knows their links.
      for (const { id, email } of await repo.deleteInvitations(tx, actor)) {
        await withdrawMails(write, id)
        write.record('member.removed', id, { email, account: null })
      }
      const former = {
        id: newId('mem'),
        account_id: actor.actorId,
        role: 'manager',
        created_at: now,
      } as const
      await repo.insertMember(tx, actor, former)
      write.record('vendor.handed_over', actor.ownerId, { before: actor.actorId, after: next })
    },
    { onTaken: () => problem('owns_vendor'), onGone: () => problem('not_found') },
  )
}
