import { minute } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { countOnline, listOnline } from '../sessions/online.access.ts'

export interface Online {
  count: number
  /** Some of them; the names of those that sign in by a key are keys. */
  some: { username: string; hasPassword: boolean }[]
}

const someMax = 100
const keptForMs = minute
const keptMax = 1000

/** Who is signed in to an app. Read at most once a minute for each app, because any program may ask as often as it likes. */
export class OnlineUsers {
  readonly #ctx: Pick<Ctx, 'clock' | 'database'>
  readonly #kept = new Map<string, { until: number; online: Promise<Online> }>()

  constructor(ctx: Pick<Ctx, 'clock' | 'database'>) {
    this.#ctx = ctx
  }

  read(appId: string): Promise<Online> {
    const now = this.#ctx.clock.now()
    const kept = this.#kept.get(appId)
    if (kept && kept.until > now) return kept.online
    if (this.#kept.size >= keptMax) this.#kept.clear()
    const online = this.#read(appId, now)
    online.catch(() => this.#kept.delete(appId))
    this.#kept.set(appId, { until: now + keptForMs, online })
    return online
  }

  async #read(appId: string, now: number): Promise<Online> {
    const { database } = this.#ctx
    const count = await countOnline(database, appId, now)
    return { count, some: await listOnline(database, appId, now, someMax) }
  }
}
