import { Background } from '../../core/background.ts'
import { day, second } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { networkOf } from '../../core/visitor.ts'
import type { ActionRecord, RecordConsumer } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Mail, Mailer } from '../mail/mail.service.ts'
import type { Holder } from '../sessions/sessions.service.ts'
import * as repo from './account-mails.repo.ts'
import { toAddressChangedMail, toNewDeviceMail } from './account-mails.text.ts'
import { toDeviceName } from './device-names.ts'

/**
 * Anyone who knows a password could send more, and anyone can register an account with another's address. Those of resellers are
 * counted apart: a vendor that makes one with another's address must not use up the mails of that person.
 */
const mailsOfAddress: Allowance = { name: 'account mails', max: 10, windowMs: day }
const graceMs = 5 * second

interface Parts {
  ctx: Ctx
  attempts: Pick<Attempts, 'add'>
  mailer: Mailer
  consoleUrl: () => string
  onError: (error: unknown) => void
}

/** A sign-in, by its record. */
interface SignIn {
  holder: Holder
  sessionId: string
  address: string
  at: number
}

/** Mails people about changes to their account. Mails are sent after the commit, so they neither delay nor fail a call. */
export class AccountMails {
  readonly #parts: Parts
  readonly #background: Background

  constructor(parts: Parts) {
    this.#parts = parts
    this.#background = new Background(parts.onError)
  }

  readonly consume: RecordConsumer = (records) => {
    for (const record of records) {
      const work = this.#workOf(record)
      if (work) this.#background.start(work)
    }
  }

  #workOf(record: ActionRecord): (() => Promise<void>) | undefined {
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
        return () => this.#tellOldAddress(record)
      default:
        return undefined
    }
  }

  #ofSignIn(record: ActionRecord, { isMailed }: { isMailed: boolean }): (() => Promise<void>) | undefined {
    const signIn = signInOf(record)
    return signIn && (() => this.#remember(signIn, isMailed))
  }

  async #remember({ holder, sessionId, address, at }: SignIn, isMailed: boolean): Promise<void> {
    const { ctx, consoleUrl } = this.#parts
    const agent = await repo.findAgent(ctx.db, holder, sessionId)
    const device = { network: networkOf(address), agent: agent ?? '' }
    const found = await ctx.tx({ kind: 'system', ownerId: null }, async ({ tx }) => {
      const found = await repo.lockHolder(tx, holder)
      return found && { ...found, isNew: await repo.rememberDevice(tx, holder, device, at) }
    })
    if (!found || !isMailed || !found.isNew || !found.wantsSignIns) return
    const { email } = found
    const time = toTime(at)
    const isReseller = holder.kind === 'reseller'
    await this.#send(holder.kind, email, () =>
      toNewDeviceMail({
        isReseller,
        email,
        consoleUrl: consoleUrl(),
        device: toDeviceName(agent),
        address,
        time,
      }),
    )
  }

  #tellOldAddress({ detail, at }: ActionRecord): Promise<void> {
    const { before: email } = detail as { before: string }
    return this.#send('account', email, () => toAddressChangedMail({ email, time: toTime(at) }))
  }

  async #send(kind: Holder['kind'], email: string, compose: () => Mail): Promise<void> {
    const { attempts, mailer } = this.#parts
    const { count } = await attempts.add(mailsOfAddress, 1, kind, normalizeName(email))
    if (count <= mailsOfAddress.max) await mailer.send(compose())
  }

  /** Waits a short time for messages being sent. */
  async end(): Promise<void> {
    const grace = setTimeout(() => this.#parts.mailer.close(), graceMs)
    await this.#background.end()
    clearTimeout(grace)
  }
}

function signInOf({ actor, at }: ActionRecord): SignIn | undefined {
  if (actor.kind === 'owner' || actor.kind === 'member') {
    const { actorId, sessionId, address } = actor
    return { holder: { kind: 'account', id: actorId }, sessionId, address, at }
  }
  if (actor.kind === 'reseller') {
    const { resellerId, sessionId, address } = actor
    return { holder: { kind: 'reseller', id: resellerId }, sessionId, address, at }
  }
  return undefined
}

const toTime = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' at ')} UTC`
