import type { Readable } from 'node:stream'
import { sees } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listOpenSessions } from '../sessions/sessions.service.ts'
import { EventStream, type Listener, type Topic } from './events.stream.ts'

const heartbeatMs = 25 * second
/** Enough for a person's open tabs; more indicates a runaway program, which must not lock the rest of the team out. */
const streamsPerPerson = 30

/** The wildcard for all nouns. */
export const everything = '*'

/** Whose rows changed, and of which app. */
export interface Concerned {
  ownerId: string
  appId: string | null
}

/** The streams open on this node, by owner. */
export class EventHub {
  readonly #ctx: Ctx
  readonly #streams = new Map<string, Set<EventStream>>()
  readonly #timer: NodeJS.Timeout
  #closed = false

  constructor(ctx: Ctx, options: { onError: (error: unknown) => void; heartbeatMs?: number | undefined }) {
    this.#ctx = ctx
    this.#timer = setInterval(
      () => void this.sendHeartbeats().catch(options.onError),
      options.heartbeatMs ?? heartbeatMs,
    )
    this.#timer.unref()
  }

  open(actor: Listener): Readable {
    if (this.#closed) throw problem('unavailable')
    const present = this.#streams.get(actor.ownerId) ?? new Set()
    const own = [...present].filter(({ listener }) => listener.actorId === actor.actorId)
    if (own.length >= streamsPerPerson) throw problem('rate_limited', { retryAfterSeconds: 60 })
    const stream = new EventStream(actor, () => {
      present.delete(stream)
      if (present.size === 0 && this.#streams.get(actor.ownerId) === present)
        this.#streams.delete(actor.ownerId)
    })
    this.#streams.set(actor.ownerId, present.add(stream))
    return stream.content
  }

  /** Notifies the streams of an owner whose actors may see the app; without an app, all apps. */
  notify({ ownerId, appId }: Concerned, topic: Topic, nouns: readonly string[]): void {
    for (const stream of this.#streams.get(ownerId) ?? [])
      if (sees(stream.listener, appId)) stream.send(topic, nouns)
  }

  /** Called when changes may have been missed. */
  notifyAll(): void {
    for (const streams of this.#streams.values()) {
      for (const stream of streams)
        for (const topic of ['change', 'activity'] as const) stream.send(topic, [everything])
    }
  }

  /** Ends the streams of an owner: their readers open them again, with the rights that they have now. */
  endStreamsOf(ownerId: string): void {
    for (const stream of this.#streams.get(ownerId) ?? []) stream.end()
  }

  /** Ends the streams whose session has ended and sends the others a heartbeat. */
  async sendHeartbeats(): Promise<void> {
    for (const stream of await this.#endClosed(() => true)) stream.sendHeartbeat()
  }

  /** Ends the streams of a vendor or a person whose session has ended. */
  async endClosed(id: string): Promise<void> {
    await this.#endClosed(({ ownerId, actorId }) => ownerId === id || actorId === id)
  }

  /** Returns the streams whose session is open. */
  async #endClosed(isConcerned: (listener: Listener) => boolean): Promise<EventStream[]> {
    const streams = [...this.#streams.values()]
      .flatMap((some) => [...some])
      .filter(({ listener }) => isConcerned(listener))
    if (streams.length === 0) return []
    const open = await listOpenSessions(
      this.#ctx,
      streams.map(({ listener }) => listener.sessionId),
    )
    const isOpen = ({ listener }: EventStream) => open.has(listener.sessionId)
    for (const stream of streams) if (!isOpen(stream)) stream.end()
    return streams.filter(isOpen)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const streams of this.#streams.values()) for (const stream of streams) stream.end()
  }
}
