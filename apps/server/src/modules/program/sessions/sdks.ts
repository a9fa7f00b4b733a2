import { system } from '../../../core/actor.ts'
import { day } from '../../../core/clock.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { insertSdk, noteInitWithoutSdk } from '../../apps/apps.access.ts'

/** A cracked program can send any text, so an app keeps a few only. */
const sdksMax = 50
const knownMax = 10_000

/** Remembers which SDKs the programs of an app name, and that some name none; writes only what is new. */
export class ProgramSdks {
  readonly #ctx: Pick<Ctx, 'clock' | 'tx'>
  readonly #onError: (error: unknown) => void
  readonly #known = new Map<string, number>()
  readonly #writing = new Set<Promise<void>>()

  constructor(ctx: Pick<Ctx, 'clock' | 'tx'>, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
  }

  /** Returns at once: `init` waits for no write. */
  note(appId: string, sdk: string | undefined): void {
    const key = `${appId} ${sdk ?? ''}`
    const now = this.#ctx.clock.now()
    const seenAt = this.#known.get(key)
    if (seenAt !== undefined && (sdk !== undefined || now < seenAt + day)) return
    if (this.#known.size >= knownMax) this.#known.clear()
    this.#known.set(key, now)
    const written = this.#ctx
      .tx(system, ({ tx }) =>
        sdk === undefined
          ? noteInitWithoutSdk(tx, appId, now)
          : insertSdk(tx, { app_id: appId, sdk, first_seen_at: now }, sdksMax),
      )
      .catch(this.#onError)
      .finally(() => this.#writing.delete(written))
    this.#writing.add(written)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#writing)
  }
}
