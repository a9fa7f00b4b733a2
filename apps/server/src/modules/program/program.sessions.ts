import { system } from '../../core/actor.ts'
import { hour, second } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import type { Ctx } from '../../core/ctx.ts'
import { newId, newToken } from '../../core/ids.ts'
import * as repo from './program.repo.ts'

export const sessionLifetimeMs = 24 * hour
const extendAfterMs = hour

/** Sessions of programs. Extensions are batched into one commit. */
export class ProgramSessions {
  readonly #ctx: Ctx
  readonly #onError: (error: unknown) => void
  readonly #used = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Ctx, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
  }

  async open(app: { id: string; secretVersion: number }): Promise<{ token: string; expiresAt: number }> {
    const now = this.#ctx.clock.now()
    const token = newToken('kwc')
    const expiresAt = now + sessionLifetimeMs
    await repo.insertSession(this.#ctx.db, {
      id: newId('cse'),
      app_id: app.id,
      secret_version: app.secretVersion,
      token_hash: sha256(token),
      created_at: now,
      expires_at: expiresAt,
    })
    return { token, expiresAt }
  }

  /** Extends a session in use; due extensions are written within a second. */
  use(session: { id: string; expiresAt: number }): void {
    if (session.expiresAt >= this.#ctx.clock.now() + sessionLifetimeMs - extendAfterMs) return
    this.#used.add(session.id)
    this.#timer ??= setTimeout(() => void this.flush(), second)
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const ids = [...this.#used]
    this.#used.clear()
    if (ids.length === 0) return
    const expiresAt = this.#ctx.clock.now() + sessionLifetimeMs
    await this.#ctx
      .tx(system, async ({ tx }) => {
        for (let at = 0; at < ids.length; at += 500) {
          await repo.extendSessions(tx, ids.slice(at, at + 500), expiresAt)
        }
      })
      .catch(this.#onError)
  }
}
