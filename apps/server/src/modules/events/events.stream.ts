import { Readable } from 'node:stream'
import { second } from '../../core/clock.ts'

/** One open response of GET /events. */
export class EventStream {
  readonly content = new Readable({ read() {} })
  readonly sessionId: string
  #throttle: NodeJS.Timeout | undefined
  #missed = false

  constructor(sessionId: string, onEnd: () => void) {
    this.sessionId = sessionId
    this.content.once('close', () => {
      clearTimeout(this.#throttle)
      onEnd()
    })
    this.#write(': hello\n\n')
  }

  /** Sends a change event, at most one per second; further changes are merged into the next one. */
  sendChange(): void {
    if (this.#throttle) {
      this.#missed = true
      return
    }
    this.#write('event: change\ndata:\n\n')
    this.#throttle = setTimeout(() => {
      this.#throttle = undefined
      if (!this.#missed) return
      this.#missed = false
      this.sendChange()
    }, second)
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
