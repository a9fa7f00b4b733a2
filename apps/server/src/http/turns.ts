import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EndTurn, Gate } from '../core/gate.ts'
import { problem } from '../core/problem.ts'

interface Turn {
  end: EndTurn
  handled: boolean
}

/** The turns that requests to one endpoint take at a gate. */
export class Turns {
  readonly #gate: Gate
  readonly #stalledMs: number
  readonly #turns = new WeakMap<FastifyRequest, Turn>()

  /** A file of which nothing is read for `stalledMs` is given up, so that it does not keep its account's turn. */
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
    // For a body that never arrives or cannot be read: no handler ends such a turn.
    const endUnlessHandled = () => {
      if (!turn.handled) turn.end()
    }
    reply.raw.once('finish', endUnlessHandled).once('close', endUnlessHandled)
  }

  /** The turn ends with the work, not when the caller hangs up: what was begun runs on. */
  async during<Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.get(request)
    if (turn) turn.handled = true
    try {
      return await work()
    } finally {
      if (this.#turns.get(request) === turn) turn?.end()
    }
  }

  /** For an answer that goes on without work: an open stream must not keep the turns of its account. */
  end(request: FastifyRequest): void {
    this.#turns.get(request)?.end()
    this.#turns.delete(request)
  }

  /** The turn goes on until the file is sent or given up. */
  keepFor(content: Readable, request: FastifyRequest, reply: FastifyReply): void {
    const turn = this.#turns.get(request)
    if (!turn) return
    this.#turns.delete(request)
    content.once('close', turn.end)
    reply.raw.once('close', () => content.destroy())
    reply.raw.setTimeout(this.#stalledMs, () => content.destroy())
  }
}
