import { day, hour } from '../../core/clock.ts'

/** A jump in a running process is no stop of the server: it is believed after this time. */
const believedAfterMs = { running: day, started: 2 * hour }

/** Milliseconds: of the clock since 1970, and of the monotonic clock of this process. */
interface Reading {
  now: number
  monotonic: number
}

/**
 * Doubts a clock that differs by more than a day from what it should show: a wrong year must not delete what has not
 * expired. At a start it cannot be told from a stop of days, and is believed sooner.
 */
export class ClockGuard {
  #last: Reading | undefined
  #doubtedSince: number | undefined

  /** Returns what the clock should show, if that is in doubt; `stored` is what an earlier process has seen last. */
  findDoubt(reading: Reading, stored: number | undefined): number | undefined {
    const { now, monotonic } = reading
    const expected = this.#last ? this.#last.now + (monotonic - this.#last.monotonic) : stored
    if (expected === undefined || Math.abs(now - expected) <= day) return this.#believe(reading)
    this.#doubtedSince ??= monotonic
    const patience = this.#last ? believedAfterMs.running : believedAfterMs.started
    return monotonic - this.#doubtedSince >= patience ? this.#believe(reading) : expected
  }

  #believe(reading: Reading): undefined {
    this.#last = reading
    this.#doubtedSince = undefined
  }
}
