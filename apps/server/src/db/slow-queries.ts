import { minute } from '../core/clock.ts'

const textLength = 1000
const linesPerMinute = 20

export interface SlowQuery {
  /** Its text with placeholders: values stay out of the log. */
  query: string
  ms: number
  /** How many more of the minute before were left out; absent if none was. */
  omitted?: number
}

/** Reports statements that take longer than a limit, so many a minute at most. */
export class SlowQueries {
  #limitMs = Number.POSITIVE_INFINITY
  #report: (query: SlowQuery) => void = () => {}
  #minuteEnds = 0
  #reported = 0
  #omitted = 0
  #count = 0

  /** How many there were. */
  get count(): number {
    return this.#count
  }

  /** Reports from now on; never with a limit of 0. */
  listen(limitMs: number, report: (query: SlowQuery) => void): void {
    this.#limitMs = limitMs === 0 ? Number.POSITIVE_INFINITY : limitMs
    this.#report = report
  }

  note(text: string | (() => string), ms: number): void {
    if (ms < this.#limitMs) return
    this.#count += 1
    const now = performance.now()
    let omitted = 0
    if (now >= this.#minuteEnds) {
      omitted = this.#omitted
      this.#minuteEnds = now + minute
      this.#reported = 0
      this.#omitted = 0
    }
    if (this.#reported >= linesPerMinute) {
      this.#omitted += 1
      return
    }
    this.#reported += 1
    const query = (typeof text === 'string' ? text : text()).replace(/\s+/g, ' ').trim()
    this.#report({
      query: query.slice(0, textLength),
      ms: Math.round(ms),
      ...(omitted > 0 && { omitted }),
    })
  }
}
