import { limits, type Member, type MemberRole } from '@keyward/contract'
import type { PersonActor } from '../../core/actor.ts'
import { Background } from '../../core/background.ts'
import { day, hour, second } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId, newToken, normalizeName } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getAccount } from '../accounts/accounts.service.ts'
import type { Mailer } from '../mail/mail.service.ts'
import { refuseFormerOwner } from '../owners/owners.service.ts'
import * as repo from './members.repo.ts'
import { toStoredApps } from './members.rules.ts'
import { findApps, refuseMore, toMember } from './members.service.ts'
import { toInvitationLink, toInvitationMail } from './members.text.ts'

const invitationsOfPerson: Allowance = { name: 'invitation', max: 100, windowMs: hour }
/** Further invitations of an address are made, but not mailed: strangers must not fill its mailbox. */
const mailsToAddress: Allowance = { name: 'invitation mail', max: 5, windowMs: day }
/** On shutdown a message being sent gets this long to be accepted. */
const graceMs = 5 * second

interface Parts {
  ctx: Ctx
  attempts: Attempts
  mailer: Mailer
  /** Base URL of links; never from a request, whose Host header the sender controls. */
  consoleUrl: () => string
  onError: (error: unknown) => void
}

/** Invitations to the team of a vendor. */
export class Invitations {
  readonly #parts: Parts
  readonly #background: Background

  constructor(parts: Parts) {
    this.#parts = parts
    this.#background = new Background(parts.onError)
  }

  /** Nothing in the answer depends on whether the address has an account, unless in this team. */
  async invite(
    actor: PersonActor,
    wanted: { email: string; role: MemberRole; apps?: string[] | null | undefined },
  ): Promise<{ member: Member; link: string }> {
    const { ctx, attempts, consoleUrl } = this.#parts
    const apps = await findApps(ctx.db, actor, wanted.apps ?? null)
    const rights = { role: wanted.role, apps }
    refuseMore(actor, rights)
    await attempts.count(invitationsOfPerson, actor.actorId)
    const token = newToken('kwi')
    const view = await ctx.tx(actor, async (write) => {
      const id = await addInvitation(write, actor, {
        email: wanted.email,
        role: wanted.role,
        apps: toStoredApps(apps),
        token_hash: sha256(token),
        token_expires_at: write.now + limits.invitationDays * day,
      })
      write.record('member.invited', id, { email: wanted.email, ...rights })
      return repo.findMember(write.tx, actor, id)
    })
    if (!view) throw problem('not_found')
    const link = toInvitationLink(consoleUrl(), token)
    this.#background.start(() => this.#mail(actor, wanted.email, link))
    return { member: toMember(view), link }
  }

  async #mail(actor: PersonActor, to: string, link: string): Promise<void> {
    const { ctx, attempts, mailer } = this.#parts
    if (ctx.config.smtpUrl === undefined) return
    if (ctx.config.rateLimits === 'on') {
      const { count } = await attempts.add(mailsToAddress, 1, normalizeName(to))
      if (count > mailsToAddress.max) return
    }
    const { email: from } = await getAccount(ctx.db, actor.actorId)
    await mailer.send(toInvitationMail({ to, from, link }))
  }

  /** Waits a short time for messages being sent. */
  async end(): Promise<void> {
    const grace = setTimeout(() => this.#parts.mailer.close(), graceMs)
    await this.#background.end()
    clearTimeout(grace)
  }
}

/** Adds an invitation, or replaces that of the same address, and returns its id. */
async function addInvitation(
  { tx, now }: WriteTransaction,
  actor: PersonActor,
  invited: repo.Invited & { email: string },
): Promise<string> {
  const email_normalized = normalizeName(invited.email)
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
