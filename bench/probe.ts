import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadRequest } from 'autocannon'
import { Caller } from './http.ts'

const pauseMs = 5

/** Sends one request repeatedly at a low rate and records the response times. */
export class Probe {
  readonly #caller: Caller
  readonly #request: LoadRequest
  #stopped = false
  #times: number[] = []
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
      this.#times.push(performance.now() - this.#sentAt)
      this.#sentAt = undefined
      await sleep(pauseMs)
    }
  }

  /** Returns the response times since the last call, including a running request. */
  async takeTimes(): Promise<number[]> {
    while (this.#sentAt !== undefined) await sleep(1)
    const times = this.#times
    this.#times = []
    return times
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#loop
    this.#caller.close()
  }
}
