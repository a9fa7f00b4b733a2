import type { Readable } from 'node:stream'
import { second } from '../../core/clock.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import { listOpenSessions } from '../sessions/sessions.service.ts'
import { EventStream } from './events.stream.ts'

const beatMs = 25 * second
/** Enough for every window that a few people have in sight; more is a program gone wild. */
const streamsPerOwner = 30

/** The streams that are open on this node, by owner. */
export class EventHub {
  readonly #ctx: Ctx
  readonly #streams = new Map<string, Set<EventStream>>()
  readonly #timer: NodeJS.Timeout
  #closed = false

  constructor(ctx: Ctx, options: { onError: (error: unknown) => void; beatMs?: number | undefined }) {
    this.#ctx = ctx
    this.#timer = setInterval(() => void this.beat().catch(options.onError), options.beatMs ?? beatMs)
    this.#timer.unref()
  }

  open(actor: OwnerScope & { sessionId: string }): Readable {
    if (this.#closed) throw problem('unavailable')
    const present = this.#streams.get(actor.ownerId) ?? new Set()
    if (present.size >= streamsPerOwner) throw problem('rate_limited', { retryAfterSeconds: 60 })
    const stream = new EventStream(actor.sessionId, () => {
      present.delete(stream)
      if (present.size === 0 && this.#streams.get(actor.ownerId) === present)
        this.#streams.delete(actor.ownerId)
    })
    this.#streams.set(actor.ownerId, present.add(stream))
    return stream.content
  }

  /** Tells the streams of these owners that something has changed. */
  tell(ownerIds: Iterable<string>): void {
    for (const ownerId of ownerIds) {
      for (const stream of this.#streams.get(ownerId) ?? []) stream.change()
    }
  }

  /** For when changes may have been missed. */
  tellAll(): void {
    this.tell(this.#streams.keys())
  }

  /** Ends the streams whose session is over and lets the others hear that the line is up. */
  async beat(): Promise<void> {
    const streams = [...this.#streams.values()].flatMap((some) => [...some])
    if (streams.length === 0) return
    const open = await listOpenSessions(
      this.#ctx,
      streams.map((stream) => stream.sessionId),
    )
    for (const stream of streams) {
      if (open.has(stream.sessionId)) stream.beat()
      else stream.end()
    }
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const streams of this.#streams.values()) for (const stream of streams) stream.end()
  }
}
