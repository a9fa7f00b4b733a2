import { currentAgent, networkOf } from '../../core/caller.ts'
import { day } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { rateLimited } from '../../core/problem.ts'
import type { ActionRecord, WriteTransaction } from '../../db/index.ts'
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

/** A sign-in, by its record. */
interface SignIn {
  holder: Holder
  address: string
  at: number
}

/** Mails people about changes to their account, in the transactions that change it. */
export class AccountMails {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Queues what follows from the records of a transaction; undefined, and no further promise, if nothing does. */
  follow(write: WriteTransaction): Promise<void> | undefined {
    let work: Promise<void> | undefined
    for (const record of write.records) {
      const next = this.#workOf(record)
      if (next) work = (work ?? Promise.resolve()).then(() => next(write))
    }
    return work
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

  #workOf(record: ActionRecord): ((write: WriteTransaction) => Promise<void>) | undefined {
    switch (record.action) {
      case 'owner.signed_in':
      case 'reseller.signed_in':
      case 'member.joined':
        return this.#ofSignIn(record, { isMailed: true })
      case 'owner.registered':
      case 'owner.password_reset':
      case 'reseller.password_reset':
        return this.#ofSignIn(record, { isMailed: false })
      case 'owner.email_changed':
        return (write) => this.#tellOldAddress(write, record)
      default:
        return undefined
    }
  }

  #ofSignIn(record: ActionRecord, { isMailed }: { isMailed: boolean }) {
    const signIn = signInOf(record)
    return signIn && ((write: WriteTransaction) => this.#remember(write, signIn, isMailed))
  }

  async #remember(
    write: WriteTransaction,
    { holder, address, at }: SignIn,
    isMailed: boolean,
  ): Promise<void> {
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

function signInOf({ actor, at }: ActionRecord): SignIn | undefined {
  if (actor.kind === 'owner' || actor.kind === 'member') {
    const { actorId, address } = actor
    return { holder: { kind: 'account', id: actorId }, address, at }
  }
  if (actor.kind === 'reseller') {
    const { resellerId, address } = actor
    return { holder: { kind: 'reseller', id: resellerId }, address, at }
  }
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
