import { fstatSync, write, writeSync } from 'node:fs'
import { Socket } from 'node:net'

const mostWaitingBytes = 1_048_576
const chunkBytes = 65_536
const retryMs = 1000

/** Writes bytes without blocking and reports how many were written. */
type Send = (bytes: Buffer, done: (error: Error | null | undefined, taken: number) => void) => void

/**
 * A log that never blocks the server. Up to a megabyte of lines is buffered while the disk is full or a pipe is not
 * read; later lines are dropped, and their number is logged once writing works again.
 */
export class LogWriter {
  readonly #send: Send
  readonly #writeRest: (bytes: Buffer) => void
  readonly #retryMs: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #dropped = 0
  #droppedInAll = 0
  #sending: Buffer | undefined
  #whenEmpty: (() => void)[] = []

  constructor(to: { send: Send; writeRest?: (bytes: Buffer) => void; retryMs?: number }) {
    this.#send = to.send
    this.#writeRest = to.writeRest ?? (() => {})
    this.#retryMs = to.retryMs ?? retryMs
  }

  /** How many lines were dropped since the start. */
  get droppedLines(): number {
    return this.#droppedInAll
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#waitingBytes + bytes.length > mostWaitingBytes) {
      this.#dropped += 1
      this.#droppedInAll += 1
      return
    }
    this.#reportDropped()
    this.#add(bytes)
    this.#next()
  }

  /** Resolves when everything is written, or after `withinMs`. */
  async flush(withinMs: number): Promise<void> {
    if (this.#waitingBytes === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#whenEmpty.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** For an exit without time to flush: tries once, without waiting. */
  flushAtExit(): void {
    const rest = Buffer.concat(this.#waiting)
    if (rest.length > 0) this.#writeRest(rest)
  }

  #add(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return
    const msg = 'log lines were dropped because the log could not be written'
    this.#add(
      Buffer.from(`${JSON.stringify({ level: 40, time: Date.now(), dropped: this.#dropped, msg })}\n`),
    )
    this.#dropped = 0
  }

  #next(): void {
    if (this.#sending) return
    if (this.#waiting.length === 0) {
      for (const resolve of this.#whenEmpty.splice(0)) resolve()
      return
    }
    let count = 0
    let size = 0
    while (count < this.#waiting.length && size < chunkBytes) size += this.#waiting[count++]?.length ?? 0
    this.#attempt(Buffer.concat(this.#waiting.splice(0, count)))
  }

  #attempt(chunk: Buffer): void {
    this.#sending = chunk
    this.#send(chunk, (error, taken) => {
      const rest = chunk.subarray(taken)
      this.#waitingBytes -= taken
      if (error) setTimeout(() => this.#attempt(rest), this.#retryMs).unref()
      else if (rest.length > 0) this.#attempt(rest)
      else {
        this.#sending = undefined
        this.#reportDropped()
        this.#next()
      }
    })
  }
}

/** Opens the log on an inherited file descriptor. */
export function openLog(fd: number): LogWriter {
  const kind = fstatSync(fd)
  return kind.isFIFO() || kind.isSocket() ? toPipe(fd) : toFile(fd)
}

function toFile(fd: number): LogWriter {
  return new LogWriter({
    send: (bytes, done) => write(fd, bytes, done),
    writeRest: (bytes) => tryOnce(() => writeSync(fd, bytes)),
  })
}

// fs.write to a pipe without a reader would block a thread and keep the process from exiting.
function toPipe(fd: number): LogWriter {
  const socket = new Socket({ fd, readable: false, writable: true })
  socket.on('error', () => {})
  socket.unref()
  return new LogWriter({
    send: (bytes, done) => socket.write(bytes, (error) => done(error, error ? 0 : bytes.length)),
    writeRest: (bytes) => tryOnce(() => writeSync(fd, bytes)),
  })
}

function tryOnce(attempt: () => void): void {
  try {
    attempt()
  } catch {
    // There is nowhere left to report that the log cannot be written.
  }
}
