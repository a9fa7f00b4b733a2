import { platform } from '#platform'

/** What a storage keeps about the time. */
export interface TimeNotes {
  /** The latest time that was ever seen, in seconds since 1970. */
  latest: number
  /** When the system started, by the clock of that run; not there where the platform names no runs. */
  boot?: BootStart | undefined
}

interface BootStart {
  id: string
  startedAt: number
}

/** The clock of the machine, and how far it must have come: a clock that stands still or goes back gains no time. */
export class SeenTime {
  readonly #now: () => number
  #anchor: { wall: number; at: number } | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  now(): number {
    return this.#now()
  }

  /** Where the clock must be at least. */
  async floor({ latest, boot }: TimeNotes): Promise<number> {
    const own = boot && (await platform.boot?.())
    const inBoot = own && own.id === boot.id ? boot.startedAt + own.uptime : 0
    return Math.max(latest, this.#inRun(), inBoot)
  }

  /** What to store after the clock was believed at `now`. */
  async note({ latest, boot }: TimeNotes, now: number): Promise<TimeNotes> {
    if (now >= this.#inRun()) this.#anchor = { wall: now, at: elapsed() }
    const seen = Math.max(latest, Math.floor(Math.max(now, this.#inRun())))
    return { latest: seen, boot: await this.#noteBoot(boot, now) }
  }

  async #noteBoot(boot: BootStart | undefined, now: number): Promise<BootStart | undefined> {
    const own = await platform.boot?.()
    if (!own) return boot
    const startedAt = Math.floor(now - own.uptime)
    return own.id === boot?.id && boot.startedAt >= startedAt ? boot : { id: own.id, startedAt }
  }

  /** Whether what is stored, or what this run has seen, is later than the clock of the server by more than `tolerance`. */
  async isAhead(notes: TimeNotes, serverTime: number, tolerance: number): Promise<boolean> {
    return (await this.floor(notes)) > serverTime + tolerance
  }

  /** Believes nothing of what this run has seen. */
  forget(): void {
    this.#anchor = undefined
  }

  #inRun(): number {
    return this.#anchor ? this.#anchor.wall + elapsed() - this.#anchor.at : 0
  }
}

/** In seconds; no setting of the clock changes it. */
const elapsed = () => performance.now() / 1000

export function toBootStart(value: unknown): BootStart | undefined {
  const { id, startedAt } = (value ?? {}) as Partial<BootStart>
  return typeof id === 'string' && Number.isSafeInteger(startedAt)
    ? { id, startedAt: startedAt as number }
    : undefined
}
