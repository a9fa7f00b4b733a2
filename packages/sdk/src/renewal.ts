import type { Offline } from './offline.ts'
import type { Transport } from './transport.ts'
import type { SessionUser } from './types.ts'

/** A call that was granted waits no longer for its lease. */
const longestMs = 5_000
const pauseAfterFailureMs = 60_000

interface Renewal {
  hwid: string
  user: SessionUser
  /** The key that signed in, if one did. */
  licenseKey: string | undefined
  session: string
  /** When the call ends that was granted, a time of `performance.now()`. */
  deadline: number
  /** Whether no sign-out has begun since the call. */
  isCurrent(): boolean
}

/** Renews the lease after a call that was granted, and never fails that call. */
export class LeaseRenewal {
  readonly #offline: Offline
  readonly #transport: Transport
  #failed: { userId: string; until: number } | undefined

  constructor(offline: Offline, transport: Transport) {
    this.#offline = offline
    this.#transport = transport
  }

  async run(renewal: Renewal): Promise<void> {
    const { hwid, user, licenseKey, session, deadline, isCurrent } = renewal
    try {
      if (!isCurrent() || !(await this.#isDue(renewal))) return
      this.#failed = { userId: user._id, until: performance.now() + pauseAfterFailureMs }
      const outcome = await this.#transport.send(
        { method: 'POST', name: 'lease', body: { hwid }, repeatable: true, session },
        Math.min(deadline, performance.now() + longestMs),
      )
      if (!outcome.ok || typeof outcome.data.lease !== 'string') return
      this.#failed = undefined
      if (isCurrent()) await this.#offline.keep(outcome.data.lease, hwid, user, licenseKey)
    } catch {
      // The program may run; a later call tries again.
    }
  }

  /** Not soon after a failure, which would delay every call. */
  async #isDue({ hwid, user, licenseKey }: Renewal): Promise<boolean> {
    if (licenseKey !== undefined) return true
    const { userId, until } = this.#failed ?? {}
    if (until !== undefined && userId === user._id && performance.now() < until) return false
    return this.#offline.isDue(hwid, user._id)
  }
}
