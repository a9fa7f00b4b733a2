import { minute } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listOnline } from '../sessions/online.access.ts'

export interface Online {
  /** As many as `users` has: programs read as many names as the figures say. */
  count: number
  /** The names of end users who sign in by a key are keys. */
  users: { username: string; hasPassword: boolean }[]
}

const usersMax = 1000
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
    const users = await listOnline(this.#ctx.database, appId, now, usersMax)
    return { count: users.length, users }
  }
}
