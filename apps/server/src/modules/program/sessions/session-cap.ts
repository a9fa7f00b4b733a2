import { limits } from '@keyward/contract'
import { system } from '../../../core/actor.ts'
import { type ActionRecord, inSlices } from '../../../db/index.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { deleteOldestSessions } from '../../sessions/program-sessions.access.ts'

export interface SessionCapOptions {
  /** Sessions of an end user, those that signed out included until they end. */
  most: number
  /** Checks one of so many sign-ins, chosen at random: no other sign-in pays for the count. */
  oneIn: number
}

const usual: SessionCapOptions = { most: limits.sessionsPerEndUser, oneIn: 500 }

/** One key can sign in as often as it likes: of an end user with too many sessions, those unused for longest are ended. */
export class SessionCap {
  readonly #ctx: Pick<Ctx, 'db' | 'tx'>
  readonly #onError: (error: unknown) => void
  readonly #options: SessionCapOptions
  readonly #trimming = new Map<string, Promise<void>>()

  constructor(
    ctx: Pick<Ctx, 'db' | 'tx'>,
    onError: (error: unknown) => void,
    options: SessionCapOptions = usual,
  ) {
    this.#ctx = ctx
    this.#onError = onError
    this.#options = options
  }

  consume(records: readonly ActionRecord[]): void {
    for (const { action, targetId } of records) {
      if (action !== 'end_user.signed_in' || targetId === null) continue
      if (Math.random() * this.#options.oneIn < 1) this.#trim(targetId)
    }
  }

  #trim(endUserId: string): void {
    if (this.#trimming.has(endUserId)) return
    const trimmed = inSlices(this.#ctx, system, async ({ tx, now }, size) => ({
      found: await deleteOldestSessions(tx, endUserId, { most: this.#options.most, count: size, now }),
    }))
      .then(() => {}, this.#onError)
      .finally(() => this.#trimming.delete(endUserId))
    this.#trimming.set(endUserId, trimmed)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#trimming.values())
  }
}
