import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EndTurn, Gate } from '../core/gate.ts'
import { problem } from '../core/problem.ts'

interface Turn {
  end: EndTurn
  handled: boolean
}

/** Tracks the turns at a gate for requests to one endpoint. */
export class Turns {
  readonly #gate: Gate
  readonly #stalledMs: number
  readonly #turns = new WeakMap<FastifyRequest, Turn>()

  /** Aborts a download that the client does not read for `stalledMs`, because it holds a turn of its account. */
  constructor(gate: Gate, stalledMs: number) {
    this.#gate = gate
    this.#stalledMs = stalledMs
  }

  async take(request: FastifyRequest, reply: FastifyReply, account: string): Promise<void> {
    const turn: Turn = { end: await this.#gate.enter(account), handled: false }
    if (reply.raw.destroyed) {
      turn.end()
      throw problem('unavailable')
    }
    this.#turns.set(request, turn)
    // A body that never arrives or cannot be parsed reaches no handler that would end the turn.
    const endUnlessHandled = () => {
      if (!turn.handled) turn.end()
    }
    reply.raw.once('finish', endUnlessHandled).once('close', endUnlessHandled)
  }

  /** The turn ends with the work, not when the caller disconnects: started work keeps running. */
  async during<Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.get(request)
    if (turn) turn.handled = true
    try {
      return await work()
    } finally {
      if (this.#turns.get(request) === turn) turn?.end()
    }
  }

  /** Releases the turn early: an open event stream must not hold a turn of its account. */
  end(request: FastifyRequest): void {
    this.#turns.get(request)?.end()
    this.#turns.delete(request)
  }

  /** Keeps the turn until the file is sent or aborted. */
  keepFor(content: Readable, request: FastifyRequest, reply: FastifyReply): void {
    const turn = this.#turns.get(request)
    if (!turn) return
    this.#turns.delete(request)
    content.once('close', turn.end)
    reply.raw.once('close', () => content.destroy())
    reply.raw.setTimeout(this.#stalledMs, () => content.destroy())
  }
}
