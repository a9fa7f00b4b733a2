import { sql } from 'kysely'
import { hour, minute } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'

export interface Online {
  count: number
  /** Some of them; the names of those that sign in by a key are keys. */
  some: { username: string; hasPassword: boolean }[]
}

const someMax = 100
const keptForMs = minute
const keptMax = 1000
/** A session that is used is extended when an hour of it has passed. */
const usedWithinMs = 2 * hour

/** Who is signed in to an app. Read at most once a minute for each app, because any program may ask as often as it likes. */
export class OnlineUsers {
  readonly #ctx: Pick<Ctx, 'clock' | 'database'>
  readonly #lifetimeMs: number
  readonly #kept = new Map<string, { until: number; online: Promise<Online> }>()

  constructor(ctx: Pick<Ctx, 'clock' | 'database'>, lifetimeMs: number) {
    this.#ctx = ctx
    this.#lifetimeMs = lifetimeMs
  }

  read(appId: string): Promise<Online> {
    const now = this.#ctx.clock.now()
    const kept = this.#kept.get(appId)
    if (kept && kept.until > now) return kept.online
    if (this.#kept.size >= keptMax) this.#kept.clear()
    const online = this.#read(appId, now + this.#lifetimeMs - usedWithinMs)
    online.catch(() => this.#kept.delete(appId))
    this.#kept.set(appId, { until: now + keptForMs, online })
    return online
  }

  async #read(appId: string, endsAfter: number): Promise<Online> {
    const { lists } = this.#ctx.database
    const signedIn = sql`select distinct s.client_id as id from client_sessions s
      where s.app_id = ${appId} and s.client_id is not null and s.expires_at > ${endsAfter}`
    const counted = await sql<{ n: number }>`select count(*) as n from (${signedIn}) t`.execute(lists)
    const { rows } = await sql<{ username: string; has_password: number }>`
      select c.username, case when c.password_hash is null then 0 else 1 end as has_password
      from (${signedIn} limit ${someMax}) t join clients c on c.id = t.id`.execute(lists)
    return {
      count: Number(counted.rows[0]?.n ?? 0),
      some: rows.map(({ username, has_password }) => ({ username, hasPassword: has_password === 1 })),
    }
  }
}
