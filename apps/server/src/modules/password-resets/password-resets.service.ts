import { limits, type SecondFactorStep } from '@keyward/contract'
import type { Actor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId, newToken, normalizeEmail } from '../../core/ids.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { problem } from '../../core/problem.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import type { Asked } from '../second-factors/holders.ts'
import { revokeResets } from './password-resets.access.ts'
import * as repo from './password-resets.repo.ts'
import { toConfirmationMail, toResetMail } from './password-resets.text.ts'
import { type AskedLink, type ResetRequest, ResetRequests } from './reset-requests.ts'

const lifetimeMs = limits.resetLinkMinutes * minute
/**
 * The window equals a link's lifetime, so a stranger who exhausts the allowance leaves working links in the mailbox.
 */
const requestsOfAccount: Allowance = { name: 'reset-account', max: 3, windowMs: lifetimeMs }
const requestsOfAddress: Allowance = { name: 'reset-address', max: 30, windowMs: 60 * minute }
const wrongTokens: Allowance = { name: 'reset-token', max: 30, windowMs: 15 * minute }
/** A link is not mailed any more in its last minutes. */
const mailedForMs = lifetimeMs - 5 * minute

/** How a kind of account requests a link. */
export interface Request {
  find: (email: string) => Promise<repo.ResetAccount | undefined>
  /** Locks the account; undefined if it may not have a link or its address has changed. */
  lock: (tx: Tx, account: repo.ResetAccount, email: string) => Promise<{ email: string } | undefined>
}

/** How a kind of account sets its new password. */
export interface Reset<A extends Actor, Result> {
  /** The account as the actor of the new session; undefined if it may not have a new password. */
  begin: (account: repo.ResetAccount) => Promise<A | undefined>
  lock: (tx: Tx, account: repo.ResetAccount) => Promise<{ email: string } | undefined>
  /** Asks for a second factor if the account has one: then nothing changes before it was shown. */
  ask: (
    write: WriteTransaction,
    account: repo.ResetAccount,
    state: ResetState,
  ) => Promise<SecondFactorStep | undefined>
  write: (
    write: WriteTransaction,
    changed: { account: repo.ResetAccount; actor: A; passwordHash: string },
  ) => Promise<Result>
}

/** What a reset waits with for its second factor. The link still works meanwhile. */
interface ResetState {
  tokenHash: string
  passwordHash: string
}

/** Mails a customer a link to the page of an app. It calls `take` in its transaction, which is false if another node did this. */
export type LinkSender = (
  asked: AskedLink,
  take: (write: WriteTransaction) => Promise<boolean>,
) => Promise<void>

interface Parts {
  ctx: Ctx
  attempts: Attempts
  /** How each kind of account is found. */
  requestsOf: (kind: repo.AccountKind) => Request
  sendLink: LinkSender
  /** Base URL of mailed links; never from a request, whose Host header the sender controls. */
  consoleUrl: () => string
  onError: (error: unknown) => void
  pollMs?: number | undefined
}

/** Password resets by mail, for owners and resellers. */
export class PasswordResets {
  readonly #parts: Parts
  readonly queue: ResetRequests

  constructor(parts: Parts) {
    this.#parts = parts
    const { ctx, onError, pollMs, sendLink } = parts
    this.queue = new ResetRequests({
      ...{ ctx, onError, pollMs },
      handle: (request, take) =>
        request.kind === 'customer' ? sendLink(request, take) : this.#handle(request, take),
    })
  }

  /** Stores the request, and looks up the account later: neither response nor timing reveals whether it exists. */
  async request(kind: repo.AccountKind, request: { email: string; address: string }): Promise<void> {
    const { ctx, attempts } = this.#parts
    if (ctx.config.passwordReset === 'operator') throw problem('mail_off')
    const email = normalizeEmail(request.email)
    await attempts.count(requestsOfAddress, request.address)
    await attempts.count(requestsOfAccount, kind, email)
    const { address } = request
    await ctx.tx({ kind: 'anonymous', ownerId: null, address }, (write) =>
      this.queue.add(write, { kind, email, address }),
    )
  }

  async #handle(
    { kind, email, address }: ResetRequest,
    take: (write: WriteTransaction) => Promise<boolean>,
  ): Promise<void> {
    const { ctx, consoleUrl, requestsOf } = this.#parts
    const request = requestsOf(kind)
    const account = await request.find(email)
    const ownerId = account?.ownerId ?? null
    await ctx.tx({ kind: 'anonymous', ownerId, address }, async (write) => {
      if (!(await take(write)) || !account) return
      // The address may have changed meanwhile, and the account may have been deleted.
      const found = await request.lock(write.tx, account, email)
      if (!found) return
      const token = newToken('kwp')
      const [createdAt, expiresAt] = [write.now, write.now + lifetimeMs]
      await repo.insertReset(write.tx, kind, account, {
        ...{ id: newId('rst'), tokenHash: sha256(token), createdAt, expiresAt },
      })
      write.record(`${kind}.password_reset_requested`, account.id, {})
      const mail = toResetMail({ kind, email: found.email, token, consoleUrl: consoleUrl() })
      const about = { ...ownersOf(kind, account), ownerId }
      await queueMail(ctx, write, { ...mail, ...about, expiresAt: write.now + mailedForMs })
    })
  }

  /**
   * Sets a new password with a mailed token, which works once, and revokes the account's other links, or asks for a second
   * factor first.
   */
  async complete<A extends Actor, Result>(
    kind: repo.AccountKind,
    reset: { token: string; password: string; address: string },
    steps: Reset<A, Result>,
  ): Promise<{ actor: A; result: Result } | SecondFactorStep> {
    const { ctx, attempts } = this.#parts
    checkPassword(ctx, 'password', reset.password)
    await attempts.check(wrongTokens, reset.address)
    const tokenHash = sha256(reset.token)
    const account = await repo.findAccount(ctx.db, kind, tokenHash, ctx.clock.now())
    const actor = account && (await steps.begin(account))
    if (!account || !actor) {
      await attempts.count(wrongTokens, reset.address)
      throw problem('reset_link_invalid')
    }
    const passwordHash = await ctx.passwords.hash(reset.password, {
      address: reset.address,
      account: `${kind}:${account.id}`,
    })
    const state = { tokenHash, passwordHash }
    const reached = { kind, account, actor, state, address: reset.address }
    return this.#change(reached, steps, (write) => steps.ask(write, account, state))
  }

  /** Sets the password of a reset that asked for a second factor, which was shown now. */
  async finish<A extends Actor, Result>(
    kind: repo.AccountKind,
    { take, address, ...asked }: Pick<Asked, 'state' | 'take' | 'address'>,
    steps: Reset<A, Result>,
  ): Promise<{ actor: A; result: Result }> {
    const { ctx } = this.#parts
    const state = asked.state as ResetState
    const account = await repo.findAccount(ctx.db, kind, state.tokenHash, ctx.clock.now())
    const actor = account && (await steps.begin(account))
    if (!account || !actor) throw problem('challenge_ended')
    const done = await this.#change({ kind, account, actor, state, address }, steps, async (write) => {
      await take(write)
      return undefined
    })
    if ('secondFactor' in done) throw new Error('a reset asked twice')
    return done
  }

  async #change<A extends Actor, Result>(
    reached: {
      kind: repo.AccountKind
      account: repo.ResetAccount
      actor: A
      state: ResetState
      address: string
    },
    { lock, write }: Reset<A, Result>,
    ask: (write: WriteTransaction) => Promise<SecondFactorStep | undefined>,
  ): Promise<{ actor: A; result: Result } | SecondFactorStep> {
    const { ctx, attempts, consoleUrl } = this.#parts
    const { kind, account, actor, address } = reached
    const { tokenHash, passwordHash } = reached.state
    const done = await ctx.tx(actor, async (writing) => {
      const { tx } = writing
      const locked = await lock(tx, account)
      if (!locked) throw problem('reset_link_invalid')
      const asked = await ask(writing)
      if (asked) return asked
      if (!(await repo.takeReset(tx, tokenHash, writing.now))) throw problem('reset_link_invalid')
      await revokeResets(tx, kind, account.id)
      const name = `${kind}:${normalizeEmail(locked.email)}`
      await attempts.accounts.remember({ account: name, address }, tx)
      const mail = toConfirmationMail({ kind, email: locked.email, consoleUrl: consoleUrl() })
      await queueMail(ctx, writing, { ...mail, ...ownersOf(kind, account), ownerId: actor.ownerId })
      return { result: await write(writing, { account, actor, passwordHash }) }
    })
    return 'secondFactor' in done ? done : { actor, result: done.result }
  }
}

/** The person or the reseller that a mail is about. */
const ownersOf = (kind: repo.AccountKind, { id }: repo.ResetAccount) =>
  kind === 'owner' ? { accountId: id } : { resellerId: id }
