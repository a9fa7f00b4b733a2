import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../core/caller.ts'
import type { EndTurn, Gate, Gates } from '../core/gate.ts'
import { problem } from '../core/problem.ts'

interface Turn {
  end: EndTurn
  handled: boolean
}

/** Smaller bodies are read at once. */
const largeBytes = 65_536

/** What a body may have; a length that is too large is refused before it is read. */
export function announcedBytes(headers: IncomingHttpHeaders, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit
  const announced = Number(headers['content-length'] ?? 0)
  return announced > limit ? 0 : announced
}

/** Tracks the turns of requests to one endpoint. */
export class Turns {
  readonly #gate: Gate
  readonly #keysGate: Gate
  readonly #gates: Gates
  readonly #bodyLimit: number
  readonly #turns = new WeakMap<FastifyRequest, Turn>()

  constructor(gates: Gates, { isJob, bodyLimit }: { isJob: boolean; bodyLimit: number }) {
    this.#gates = gates
    this.#gate = isJob ? gates.jobs : gates.requests
    this.#keysGate = isJob ? gates.keys.jobs : gates.keys.requests
    this.#bodyLimit = bodyLimit
  }

  async take(request: FastifyRequest, reply: FastifyReply, caller: Caller): Promise<void> {
    const endTurn = await this.#enter(caller)
    const bytes = announcedBytes(request.headers, this.#bodyLimit)
    const endBody = bytes > largeBytes ? await this.#admit(caller, bytes, endTurn) : undefined
    const turn: Turn = {
      end: () => {
        endBody?.()
        endTurn()
      },
      handled: false,
    }
    if (reply.raw.destroyed) {
      turn.end()
      throw problem('unavailable')
    }
    this.#turns.set(request, turn)
    const { bodies, uploadMs } = this.#gates
    // A body that arrives slowly on purpose would keep the places of others.
    const abort = () => void (!turn.handled && bodies.isAwaited && request.raw.destroy())
    const upload = endBody && setInterval(abort, uploadMs)
    // A body that never arrives or cannot be parsed reaches no handler that would end the turn.
    const endUnlessHandled = () => {
      clearInterval(upload)
      if (!turn.handled) turn.end()
    }
    reply.raw.once('finish', endUnlessHandled).once('close', endUnlessHandled)
  }

  /** An API key waits in its own queue first, then with the vendor's other keys, so that none of them starves another. */
  async #enter({ account, keysOf }: Caller): Promise<EndTurn> {
    const endOwn = await this.#gate.enter(account)
    if (keysOf === undefined) return endOwn
    try {
      const endShared = await this.#keysGate.enter(keysOf)
      return () => {
        endShared()
        endOwn()
      }
    } catch (error) {
      endOwn()
      throw error
    }
  }

  async #admit(caller: Caller, weight: number, endTurn: EndTurn): Promise<EndTurn> {
    try {
      return await this.#gates.bodies.enter(caller, { weight })
    } catch (error) {
      endTurn()
      throw error
    }
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

  /** Keeps the turn until the file is sent, or aborted because the client does not read it. */
  keepFor(content: Readable, request: FastifyRequest, reply: FastifyReply): void {
    const turn = this.#turns.get(request)
    if (!turn) return
    this.#turns.delete(request)
    content.once('close', turn.end)
    reply.raw.once('close', () => content.destroy())
    reply.raw.setTimeout(this.#gates.stalledMs, () => content.destroy())
  }
}
