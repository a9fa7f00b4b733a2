import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadRequest } from 'autocannon'
import { Caller } from './http.ts'

const pauseMs = 5

/** Sends one request repeatedly at a low rate and records the longest response time. */
export class Probe {
  readonly #caller: Caller
  readonly #request: LoadRequest
  #stopped = false
  #longestMs = 0
  #sentAt: number | undefined
  #loop: Promise<void>

  constructor(baseUrl: string, request: LoadRequest) {
    this.#caller = new Caller(baseUrl)
    this.#request = request
    this.#loop = this.#ask()
  }

  async #ask(): Promise<void> {
    while (!this.#stopped) {
      this.#sentAt = performance.now()
      await this.#caller.send(this.#request)
      this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#sentAt)
      this.#sentAt = undefined
      await sleep(pauseMs)
    }
  }

  /** Returns the longest response time since the last call, including a running request. */
  async takeLongestMs(): Promise<number> {
    while (this.#sentAt !== undefined) await sleep(1)
    const longest = this.#longestMs
    this.#longestMs = 0
    return longest
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#loop
    this.#caller.close()
  }
}
