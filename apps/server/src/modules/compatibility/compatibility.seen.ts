import { system } from '../../core/actor.ts'
import { day, minute, second } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { countPrograms, noteUse, savePrograms } from './compatibility.repo.ts'

const countedForMs = 30 * day
const flushEveryMs = 30 * second
const useEveryMs = 5 * minute
const notedMax = 100_000
/** One key can sign in from any number of addresses. */
const ofAppPerDayMax = 50_000

/** Counts the devices and addresses that use the endpoint: in memory, and at most once a day for each in the database. */
export class SeenPrograms {
  readonly #ctx: Pick<Ctx, 'clock' | 'db' | 'seal' | 'tx'>
  readonly #onError: (error: unknown) => void
  /** By app and program, until when it need not be noted again. */
  readonly #noted = new Map<string, number>()
  readonly #used = new Map<string, number>()
  readonly #ofApps = new Map<string, number>()
  #countedSince = 0
  #due: { appId: string; program: string }[] = []
  readonly #usedDue = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Pick<Ctx, 'clock' | 'db' | 'seal' | 'tx'>, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
  }

  /** `program` is the hash of the hardware id, or an address. */
  note(appId: string, program: string): void {
    const now = this.#ctx.clock.now()
    if ((this.#used.get(appId) ?? 0) <= now - useEveryMs) {
      this.#used.set(appId, now)
      this.#usedDue.add(appId)
      this.#flushSoon()
    }
    const key = `${appId} ${program}`
    if ((this.#noted.get(key) ?? 0) > now || !this.#hasRoom(appId, now)) return
    if (this.#noted.size >= notedMax) this.#noted.clear()
    this.#noted.set(key, now + day)
    this.#due.push({ appId, program })
    this.#flushSoon()
  }

  #hasRoom(appId: string, now: number): boolean {
    if (now >= this.#countedSince + day) {
      this.#ofApps.clear()
      this.#countedSince = now
    }
    const count = (this.#ofApps.get(appId) ?? 0) + 1
    this.#ofApps.set(appId, count)
    return count <= ofAppPerDayMax
  }

  /** When the app was last used as far as this process knows, and how many programs used it in 30 days. */
  async read(appId: string): Promise<{ last: number | undefined; programs: number }> {
    await this.flush()
    const programs = await countPrograms(this.#ctx.db, appId, this.#ctx.clock.now())
    return { last: this.#used.get(appId), programs }
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushEveryMs).unref()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const programs = this.#due
    const used = [...this.#usedDue]
    this.#due = []
    this.#usedDue.clear()
    for (let at = 0; at < programs.length; at += 500) await this.#save(programs.slice(at, at + 500))
    if (used.length > 0)
      await this.#ctx.tx(system, ({ tx, now }) => noteUse(tx, used, now)).catch(this.#onError)
  }

  async #save(programs: { appId: string; program: string }[]): Promise<void> {
    const rows = programs
      .map(({ appId, program }) => ({
        app_id: appId,
        program: this.#ctx.seal.digest(`compatibility:${appId}:${program}`).slice(0, 32),
      }))
      // Several nodes lock the same rows in the same order.
      .sort((a, b) => (a.app_id + a.program < b.app_id + b.program ? -1 : 1))
    await this.#ctx
      .tx(system, ({ tx, now }) =>
        savePrograms(
          tx,
          rows.map((row) => ({ ...row, expires_at: now + countedForMs })),
        ),
      )
      .catch(this.#onError)
  }
}
