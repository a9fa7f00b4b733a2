import { Away, patienceMs } from './away.ts'
import { KeywardNetworkError } from './errors.ts'
import type { Identity } from './identity.ts'
import type { CheckedOptions } from './options.ts'
import type { Granted, Result, UserData } from './types.ts'

interface OnlineCall {
  name: 'license' | 'session'
  /** The key that must have signed in, if the call names one. */
  licenseKey?: string
  /** Whether no sign-out has begun since the call. */
  isCurrent(): boolean
  /** Asks the server; by default it has the whole time of a call. */
  online(timeoutMs?: number): Promise<Result<UserData>>
  /** Signs the user of the lease or the activation in. */
  onAnswer(answer: Granted<UserData>): Result<UserData>
}

/**
 * Answers from the lease or the activation if the server is not reached. If they could answer, the server gets a few
 * seconds, and after a network error it is asked in the background for a while.
 */
export class Fallback {
  readonly #options: CheckedOptions
  readonly #identity: Identity
  readonly #away = new Away()

  constructor(options: CheckedOptions, identity: Identity) {
    this.#options = options
    this.#identity = identity
  }

  /** Asks the server first with the next call. */
  reset(): void {
    this.#away.end()
  }

  async run({ name, licenseKey, isCurrent, online, onAnswer }: OnlineCall): Promise<Result<UserData>> {
    const { offline, timeoutMs, log } = this.#options
    const hwid = offline && (await this.#identity.hwid())
    if (!offline || hwid === undefined) return online()
    const fromStored = async (code: string) => {
      const answer = await offline.answer(hwid, licenseKey)
      if (typeof answer === 'string') return answer
      log({ event: 'offline', call: name, code })
      return onAnswer({ ...answer, ok: true })
    }
    const canAnswer = await offline.wouldAnswer(hwid, licenseKey)
    const { code } = this.#away
    if (canAnswer && code !== undefined) {
      const answer = await fromStored(code)
      if (isCurrent()) this.#away.probe(online)
      if (typeof answer === 'object') return answer
    }
    try {
      return await online(canAnswer ? Math.min(patienceMs, timeoutMs) : undefined)
    } catch (error) {
      if (!(error instanceof KeywardNetworkError) || error.code === 'unexpected_answer') throw error
      const answer = await fromStored(error.code)
      if (typeof answer === 'string') {
        error.offline = answer
        throw error
      }
      if (isCurrent()) this.#away.note(error)
      // The network may only be slow.
      if (isCurrent() && error.code === 'timed_out') this.#away.probe(online)
      return answer
    }
  }
}
