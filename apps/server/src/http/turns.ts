import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../core/networks/caller.ts'
import { problem } from '../core/problem.ts'
import type { EndTurn, Gates } from '../core/queues/gate.ts'
import { announcedBytes } from './input.ts'

/** Smaller bodies are read at once. */
const largeBytes = 65_536

/** The turn of one request, and the place of its body. */
export class Turn {
  readonly #ends: EndTurn[]
  readonly #stalledMs: number
  #upload: NodeJS.Timeout | undefined
  #isKept = false

  constructor(ends: EndTurn[], stalledMs: number) {
    this.#ends = ends
    this.#stalledMs = stalledMs
  }

  /** Breaks off a body that arrives slowly on purpose: it would keep the places of others. */
  watchBody(abort: () => void, everyMs: number): void {
    this.#upload = setInterval(abort, everyMs)
  }

  bodyRead(): void {
    clearInterval(this.#upload)
  }

  /** The turn ends with the work, not when the caller disconnects: started work keeps running. */
  end(): void {
    if (!this.#isKept) this.#end()
  }

  /** Keeps the turn until the file is sent, or aborted because the client does not read it. */
  keepFor(content: Readable, reply: FastifyReply): void {
    this.#isKept = true
    content.once('close', () => this.#end())
    reply.raw.once('close', () => content.destroy())
    reply.raw.setTimeout(this.#stalledMs, () => content.destroy())
  }

  #end(): void {
    this.bodyRead()
    for (const end of this.#ends) end()
  }
}

/** Returns what waits for the turns of one endpoint. */
export function createTurns(gates: Gates, { isJob, bodyLimit }: { isJob: boolean; bodyLimit: number }) {
  const gate = isJob ? gates.jobs : gates.requests
  const keysGate = isJob ? gates.keys.jobs : gates.keys.requests
  return async (request: FastifyRequest, reply: FastifyReply, caller: Caller): Promise<Turn> => {
    const ends = [await gate.enter(caller.account)]
    try {
      // An API key waits in its own queue first, then with the vendor's other keys, so that none of them starves another.
      if (caller.keysOf !== undefined) ends.unshift(await keysGate.enter(caller.keysOf))
      const weight = announcedBytes(request.headers, bodyLimit)
      const isLarge = weight > largeBytes
      if (isLarge) ends.unshift(await gates.bodies.enter(caller, { weight }))
      if (reply.raw.destroyed) throw problem('unavailable')
      const turn = new Turn(ends, gates.stalledMs)
      if (isLarge)
        turn.watchBody(() => void (gates.bodies.isAwaited && request.raw.destroy()), gates.uploadMs)
      return turn
    } catch (error) {
      for (const end of ends) end()
      throw error
    }
  }
}
