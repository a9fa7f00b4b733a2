import { Readable } from 'node:stream'
import { second } from '../../core/clock.ts'

/** One open answer to GET /events. */
export class EventStream {
  readonly content = new Readable({ read() {} })
  readonly sessionId: string
  #resting: NodeJS.Timeout | undefined
  #missed = false

  constructor(sessionId: string, onEnd: () => void) {
    this.sessionId = sessionId
    this.content.once('close', () => {
      clearTimeout(this.#resting)
      onEnd()
    })
    this.#write(': hello\n\n')
  }

  /** At once when the last one is a second ago, else as soon as it is. */
  change(): void {
    if (this.#resting) {
      this.#missed = true
      return
    }
    this.#write('event: change\ndata:\n\n')
    this.#resting = setTimeout(() => {
      this.#resting = undefined
      if (!this.#missed) return
      this.#missed = false
      this.change()
    }, second)
  }

  beat(): void {
    this.#write(': beat\n\n')
  }

  end(): void {
    if (!this.content.readableEnded && !this.content.destroyed) this.content.push(null)
  }

  #write(text: string): void {
    if (this.content.destroyed) return
    // A full buffer: nobody has read for a long time.
    if (!this.content.push(text)) this.content.destroy()
  }
}
