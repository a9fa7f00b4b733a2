import type { Actor } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { currentAgent, networkOf } from '../../core/networks/caller.ts'
import { rateLimited } from '../../core/problem.ts'
import type { ActionRecord, Follows, WriteTransaction } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import type { Mail } from '../mail/mail.service.ts'
import type { Holder } from '../sessions/sessions.service.ts'
import * as repo from './account-mails.repo.ts'
import { toAddressChangedMail, toNewDeviceMail } from './account-mails.text.ts'

/**
 * Anyone who knows a password could send more, and anyone can register an account with another's address. Those of resellers are
 * counted apart: a vendor that makes one with another's address must not use up the mails of that person.
 */
const mailsOfAddress: Allowance = { name: 'account mails', max: 10, windowMs: day }

/** Mails that a person asks for, of all these: warnings about sign-ins must not run out. */
const askedMax = 5

interface Parts {
  ctx: Pick<Ctx, 'seal'>
  attempts: Pick<Attempts, 'addIn'>
  consoleUrl: () => string
}

/** Mails people about changes to their account, in the transactions that change it. */
export class AccountMails {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly follows: Follows = {
    'owner.signed_in': (write, record) => this.#remember(write, record, true),
    'reseller.signed_in': (write, record) => this.#remember(write, record, true),
    'member.joined': (write, record) => this.#remember(write, record, true),
    'owner.registered': (write, record) => this.#remember(write, record, false),
    'owner.password_reset': (write, record) => this.#remember(write, record, false),
    'reseller.password_reset': (write, record) => this.#remember(write, record, false),
    'owner.email_changed': (write, record) => this.#tellOldAddress(write, record),
  }

  /** Queues a mail that a person asked for; throws 429 once it has asked for too many today. */
  async queueAsked(write: WriteTransaction, accountId: string, mail: Mail): Promise<void> {
    const { ctx, attempts } = this.#parts
    const { count, window_ends } = await attempts.addIn(
      ...([write.tx, mailsOfAddress, 1, 'account', normalizeEmail(mail.to)] as const),
    )
    if (count > askedMax) throw rateLimited(window_ends - write.now)
    await queueMail(ctx, write, { ...mail, accountId, ownerId: write.actor.ownerId })
  }

  async #remember(write: WriteTransaction, { actor, at }: ActionRecord, isMailed: boolean): Promise<void> {
    const signIn = signInOf(actor)
    if (!signIn) return
    const { holder, address } = signIn
    const { tx } = write
    const agent = currentAgent()
    const device = { network: networkOf(address), agent: agent ?? '' }
    const known = await repo.listDevices(tx, holder)
    if (known.some((one) => repo.isSame(one, device)) && !repo.isNew(known, device, at))
      return repo.rememberDevice(tx, holder, device, known, at)
    // Sign-ins from the same new device at once: the second one reads what the first one stored.
    const found = await repo.lockHolder(tx, holder)
    if (!found) return
    const knownNow = await repo.listDevices(tx, holder)
    await repo.rememberDevice(tx, holder, device, knownNow, at)
    if (!isMailed || !found.wantsSignIns || !repo.isNew(knownNow, device, at)) return
    await this.#tellOfDevice(write, holder, { email: found.email, agent, address, time: toTime(at) })
  }

  async #tellOfDevice(
    write: WriteTransaction,
    holder: Holder,
    { agent, ...facts }: { email: string; agent: string | null; address: string; time: string },
  ): Promise<void> {
    const isReseller = holder.kind === 'reseller'
    const consoleUrl = this.#parts.consoleUrl()
    const mail = toNewDeviceMail({ ...facts, isReseller, consoleUrl, device: toDeviceName(agent) })
    await this.#queue(write, holder, mail)
  }

  async #tellOldAddress(write: WriteTransaction, { detail, at, targetId }: ActionRecord): Promise<void> {
    const { before: email } = detail as { before: string }
    const mail = toAddressChangedMail({ email, time: toTime(at) })
    if (targetId !== null) await this.#queue(write, { kind: 'account', id: targetId }, mail)
  }

  async #queue(write: WriteTransaction, { kind, id }: Holder, mail: Mail): Promise<void> {
    const { ctx, attempts } = this.#parts
    const { count } = await attempts.addIn(write.tx, mailsOfAddress, 1, kind, normalizeEmail(mail.to))
    if (count > mailsOfAddress.max) return
    const about = kind === 'account' ? { accountId: id } : { resellerId: id }
    await queueMail(ctx, write, { ...mail, ...about, ownerId: write.actor.ownerId })
  }
}

function signInOf(actor: Actor): { holder: Holder; address: string } | undefined {
  if (actor.kind === 'owner' || actor.kind === 'member')
    return { holder: { kind: 'account', id: actor.actorId }, address: actor.address }
  if (actor.kind === 'reseller')
    return { holder: { kind: 'reseller', id: actor.resellerId }, address: actor.address }
  return undefined
}

const toTime = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' at ')} UTC`

type Names = readonly (readonly [RegExp, string])[]

// The first one that matches counts: most browsers also name those that they are compatible with.
const browsers: Names = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: Names = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'a Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Names the browser and the system of a User-Agent. Repeats none of its text, which its sender chooses. */
export function toDeviceName(agent: string | null): string {
  const find = (names: Names) => names.find(([pattern]) => pattern.test(agent ?? ''))?.[1]
  const [browser, system] = [find(browsers), find(systems)]
  if (browser === undefined) return 'an unknown program'
  return system === undefined ? browser : `${browser} on ${system}`
}
