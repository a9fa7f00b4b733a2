import type { PersonActor } from '../../core/actor.ts'
import { day, hour } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockAccount, updateAccount } from '../accounts/accounts.service.ts'
import { queueMail } from '../mail/mail.queue.ts'
import { toConfirmEmailMail } from './notifications.text.ts'

const lifetimeMs = 24 * hour
const context = 'email confirmation'
/** Anyone can register with another's address, and could send more. */
const requestsOfAddress: Allowance = { name: 'email confirmations', max: 3, windowMs: day }
const wrongTokens: Allowance = { name: 'email confirmation tokens', max: 30, windowMs: hour }

interface Parts {
  ctx: Ctx
  attempts: Attempts
  consoleUrl: () => string
}

/**
 * Confirms that a signed-in person reads the mail of its address. The token names account and address, and needs a session of
 * this account: another person who gets the link cannot confirm anything by opening it.
 */
export class EmailConfirmations {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async request(actor: PersonActor): Promise<void> {
    const { ctx, attempts, consoleUrl } = this.#parts
    if (ctx.config.passwordReset === 'operator') throw problem('mail_off')
    const { email_normalized } = await ctx.db
      .selectFrom('accounts')
      .select('email_normalized')
      .where('id', '=', actor.actorId)
      .executeTakeFirstOrThrow()
    await attempts.count(requestsOfAddress, email_normalized)
    await ctx.tx(actor, async (write) => {
      const account = await lockAccount(write.tx, actor.actorId)
      if (!account) throw problem('unauthorized')
      const until = write.now + lifetimeMs
      const token = ctx.seal.sealToken(
        Buffer.from(JSON.stringify([account.id, account.email_normalized, until])),
        context,
      )
      write.record('owner.email_confirmation_requested', account.id, {})
      const mail = toConfirmEmailMail({ email: account.email, consoleUrl: consoleUrl(), token })
      await queueMail(ctx, write, {
        ...mail,
        ...{ ownerId: actor.ownerId, accountId: account.id, expiresAt: until - hour },
      })
    })
  }

  async confirm(actor: PersonActor, token: string): Promise<void> {
    const { ctx, attempts } = this.#parts
    await attempts.check(wrongTokens, actor.address)
    const opened = ctx.seal.openToken(token, context)
    const [id, email, until] = opened ? (JSON.parse(opened.toString('utf8')) as [string, string, number]) : []
    const isValid = id === actor.actorId && until !== undefined && until > ctx.clock.now()
    if (!isValid) {
      await attempts.count(wrongTokens, actor.address)
      throw problem('reset_link_invalid')
    }
    await ctx.tx(actor, async (write) => {
      const account = await lockAccount(write.tx, actor.actorId)
      if (!account || account.email_normalized !== email) throw problem('reset_link_invalid')
      await updateAccount(write.tx, account.id, { confirmed_email: account.email_normalized })
      write.record('owner.email_confirmed', account.id, {})
      write.queues.add('waiting mails')
    })
  }
}
