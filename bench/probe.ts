import { closeSync, fdatasync, ftruncateSync, mkdtempSync, openSync, rmSync, write } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { LoadRequest } from 'autocannon'
import { Caller } from './http.ts'

const pauseMs = 5

interface Probed {
  once(): Promise<unknown>
  close(): void
}

/** Does the same repeatedly at a low rate and records how long it takes. */
export class Probe {
  readonly #probed: Probed
  #stopped = false
  #times: number[] = []
  #startedAt: number | undefined
  #loop: Promise<void>

  constructor(probed: Probed) {
    this.#probed = probed
    this.#loop = this.#repeat()
  }

  async #repeat(): Promise<void> {
    while (!this.#stopped) {
      this.#startedAt = performance.now()
      await this.#probed.once()
      this.#times.push(performance.now() - this.#startedAt)
      this.#startedAt = undefined
      await sleep(pauseMs)
    }
  }

  /** Returns the times since the last call, including what is running. */
  async takeTimes(): Promise<number[]> {
    while (this.#startedAt !== undefined) await sleep(1)
    const times = this.#times
    this.#times = []
    return times
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#loop
    this.#probed.close()
  }
}

/** Sends one request, and waits for the response. */
export function requests(baseUrl: string, request: LoadRequest): Probed {
  const caller = new Caller(baseUrl)
  return { once: () => caller.send(request), close: () => caller.close() }
}

const block = Buffer.alloc(16_384, 'x')
const fileBlocks = 512

/** Writes 16 KiB to a file of its own and waits for the disk, as a small commit does. */
export function diskWrites(parent: string): Probed {
  const folder = mkdtempSync(join(parent, 'keyward-bench-disk-'))
  const file = openSync(join(folder, 'written'), 'w')
  ftruncateSync(file, fileBlocks * block.length)
  const [writeTo, sync] = [promisify(write), promisify(fdatasync)]
  let at = 0
  return {
    once: async () => {
      await writeTo(file, block, 0, block.length, at * block.length)
      await sync(file)
      at = (at + 1) % fileBlocks
    },
    close: () => {
      closeSync(file)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
