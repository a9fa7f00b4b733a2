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
  /** The topics of the last second, and whether one was missed meanwhile. */
  readonly #recent = new Map<Topic, { timer: NodeJS.Timeout; missed: boolean }>()

  constructor(listener: Listener, onEnd: () => void) {
    this.listener = listener
    this.content.once('close', () => {
      for (const { timer } of this.#recent.values()) clearTimeout(timer)
      onEnd()
    })
    this.#write(': hello\n\n')
  }

  /** Sends an event, at most one per topic and second; further ones are merged into the next one. */
  send(topic: Topic): void {
    const recent = this.#recent.get(topic)
    if (recent) {
      recent.missed = true
      return
    }
    this.#write(`event: ${topic}\ndata:\n\n`)
    const timer = setTimeout(() => {
      const { missed } = this.#recent.get(topic) ?? { missed: false }
      this.#recent.delete(topic)
      if (missed) this.send(topic)
    }, second)
    this.#recent.set(topic, { timer, missed: false })
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
