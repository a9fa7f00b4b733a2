/** What an operator sees of a queue of deliveries. */
export interface QueueState {
  queue: string
  waiting: number
  /** When the oldest one that waits was queued, in milliseconds since 1970; null if none waits. */
  waitingSince: number | null
  /** How many of those that wait have failed at least once. */
  failing: number
  /** How many were given up in the last 24 hours. */
  failedLastDay: number
}
