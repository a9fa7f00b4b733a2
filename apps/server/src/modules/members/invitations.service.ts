import { limits, type Member } from '@keyward/contract'
import type { PersonActor } from '../../core/actor.ts'
import { day, hour } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId, newToken, normalizeEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getAccount } from '../accounts/accounts.service.ts'
import { queueMail, withdrawMails } from '../mail/mail.queue.ts'
import { refuseFormerOwner } from '../owners/owners.service.ts'
import * as repo from './members.repo.ts'
import { type Rights, toStored } from './members.rules.ts'
import { findApps, refuseMore, toMember } from './members.service.ts'
import { toInvitationLink, toInvitationMail } from './members.text.ts'

const invitationsOfPerson: Allowance = { name: 'invitation', max: 100, windowMs: hour }
/** Further invitations of an address are made, but not mailed: strangers must not fill its mailbox. */
const mailsToAddress: Allowance = { name: 'invitation mail', max: 5, windowMs: day }
/** The mailed link is not sent any more in its last day. */
const mailedForMs = (limits.invitationDays - 1) * day

interface Parts {
  ctx: Ctx
  attempts: Attempts
  /** Base URL of links; never from a request, whose Host header the sender controls. */
  consoleUrl: () => string
}

/** Invitations to the team of a vendor. */
export class Invitations {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Nothing in the answer depends on whether the address has an account, unless in this team. */
  async invite(
    actor: PersonActor,
    wanted: Omit<Rights, 'apps'> & { email: string; apps?: string[] | null | undefined },
  ): Promise<{ member: Member; link: string }> {
    const { ctx, attempts, consoleUrl } = this.#parts
    const apps = await findApps(ctx.db, actor, wanted.apps ?? null)
    const { role, permissions } = wanted
    const rights = { role, ...(permissions && { permissions: [...permissions] }), apps }
    refuseMore(actor, rights)
    await attempts.count(invitationsOfPerson, actor.actorId)
    const token = newToken('kwi')
    const link = toInvitationLink(consoleUrl(), token)
    const view = await ctx.tx(actor, async (write) => {
      const id = await addInvitation(write, actor, {
        email: wanted.email,
        ...toStored(rights),
        token_hash: sha256(token),
        token_expires_at: write.now + limits.invitationDays * day,
      })
      write.record('member.invited', id, { email: wanted.email, ...rights })
      await this.#mail(write, actor, { id, to: wanted.email, link })
      return repo.findMember(write.tx, actor, id)
    })
    if (!view) throw problem('not_found')
    return { member: toMember(view), link }
  }

  async #mail(
    write: WriteTransaction,
    actor: PersonActor,
    { id, to, link }: { id: string; to: string; link: string },
  ): Promise<void> {
    const { ctx, attempts } = this.#parts
    // The link of an invitation that this one replaces does not work any more.
    await withdrawMails(write, id)
    if (ctx.config.smtpUrl === undefined) return
    if (ctx.config.rateLimits === 'on') {
      const { count } = await attempts.addIn(write.tx, mailsToAddress, 1, normalizeEmail(to))
      if (count > mailsToAddress.max) return
    }
    const { email: from } = await getAccount(write.tx, actor.actorId)
    const mail = toInvitationMail({ to, from, link })
    const expiresAt = write.now + mailedForMs
    await queueMail(ctx, write, { ...mail, ownerId: actor.ownerId, expiresAt, about: id })
  }
}

/** Adds an invitation, or replaces that of the same address, and returns its id. */
async function addInvitation(
  { tx, now }: WriteTransaction,
  actor: PersonActor,
  invited: repo.Invited & { email: string },
): Promise<string> {
  const email_normalized = normalizeEmail(invited.email)
  // The lock makes the team's limit hold, and lets one of two equal invitations replace the other.
  await refuseFormerOwner(tx, actor)
  if (await repo.isInTeam(tx, actor, email_normalized)) throw problem('member_exists')
  const replaced = await repo.replaceInvitation(tx, actor, email_normalized, invited)
  if (replaced !== undefined) return replaced
  const id = newId('mem')
  if (!(await repo.insertInvitation(tx, actor, { id, ...invited, email_normalized, created_at: now })))
    throw problem('members_full')
  return id
}
