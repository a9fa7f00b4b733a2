import { Readable } from 'node:stream'
import type { PersonActor } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'

/** Who listens to a stream. */
export type Listener = Pick<PersonActor, 'ownerId' | 'apps' | 'actorId' | 'sessionId'>

/** `change`: rows of the owner changed. `activity`: programs did something, or were refused. */
export type Topic = 'change' | 'activity'

/** One open response of GET /events. */
export class EventStream {
  readonly content = new Readable({ read() {} })
  readonly listener: Listener
  /** The topics of the last second, with the nouns of the events that wait for its end. */
  readonly #recent = new Map<Topic, { timer: NodeJS.Timeout; waiting: Set<string> }>()

  constructor(listener: Listener, onEnd: () => void) {
    this.listener = listener
    this.content.once('close', () => {
      for (const { timer } of this.#recent.values()) clearTimeout(timer)
      onEnd()
    })
    this.#write(': hello\n\n')
  }

  /** Sends an event, at most one per topic and second; further events are merged into the next one. */
  send(topic: Topic, nouns: Iterable<string>): void {
    const recent = this.#recent.get(topic)
    if (recent) {
      for (const noun of nouns) recent.waiting.add(noun)
      return
    }
    this.#write(`event: ${topic}\ndata: ${[...nouns].join(' ')}\n\n`)
    const waiting = new Set<string>()
    const timer = setTimeout(() => {
      this.#recent.delete(topic)
      if (waiting.size > 0) this.send(topic, waiting)
    }, second)
    this.#recent.set(topic, { timer, waiting })
  }

  sendHeartbeat(): void {
    this.#write(': beat\n\n')
  }

  end(): void {
    if (!this.content.readableEnded && !this.content.destroyed) this.content.push(null)
  }

  #write(text: string): void {
    if (this.content.destroyed) return
    // The buffer is full: the client has stopped reading.
    if (!this.content.push(text)) this.content.destroy()
  }
}
