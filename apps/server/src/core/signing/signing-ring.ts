const slots = 512
const slotBytes = 2048
/** Key number and length; a signature overwrites the text behind them. */
const headBytes = 8
/** A sleeping signer is woken for this many texts, or at the end of the turn: a wake-up takes 3 of a check's 50 µs. */
const wakeSignerAfter = 4
/** A server that sleeps is woken for this many signatures, or for the last one. */
const wakeServerAfter = 8

/** The counters; each is written by one side alone, `serverSleeps` is also cleared by the signer. */
const written = 0
const signed = 1
const signerSleeps = 2
const serverSleeps = 3
const counters = 4

export const newRingMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * counters + slots * slotBytes)

class Ring {
  protected readonly counters: Int32Array
  readonly #heads: Int32Array
  protected readonly bytes: Buffer

  constructor(memory: SharedArrayBuffer) {
    this.counters = new Int32Array(memory, 0, counters)
    this.#heads = new Int32Array(memory, this.counters.byteLength)
    this.bytes = Buffer.from(memory, this.counters.byteLength)
  }

  protected load(counter: number): number {
    return Atomics.load(this.counters, counter)
  }

  protected store(counter: number, value: number): void {
    Atomics.store(this.counters, counter, value)
  }

  /** Where the text or the signature of an entry begins. */
  protected start(entry: number): number {
    return (entry & (slots - 1)) * slotBytes + headBytes
  }

  /** The key number, and the length of the text or of the signature; 0 if the text could not be signed. */
  protected head(entry: number): [keyNumber: number, length: number] {
    const at = this.#headAt(entry)
    return [this.#heads[at] ?? 0, this.#heads[at + 1] ?? 0]
  }

  protected setHead(entry: number, keyNumber: number, length: number): void {
    const at = this.#headAt(entry)
    this.#heads[at] = keyNumber
    this.#heads[at + 1] = length
  }

  #headAt(entry: number): number {
    return ((entry & (slots - 1)) * slotBytes) / Int32Array.BYTES_PER_ELEMENT
  }
}

/** The server's side: adds texts and takes their signatures in the same order. */
export class RingWriter extends Ring {
  #next = 0
  #taken = 0
  #unannounced = 0

  /** False if the ring is full or the text too long. */
  add(text: string, keyNumber: number): boolean {
    if (this.pending >= slots || text.length > slotBytes - headBytes) return false
    this.bytes.write(text, this.start(this.#next), 'latin1')
    this.setHead(this.#next, keyNumber, text.length)
    this.#next = (this.#next + 1) | 0
    this.store(written, this.#next)
    this.#unannounced += 1
    if (this.#unannounced === wakeSignerAfter) this.wakeSigner()
    return true
  }

  /** Must be called once after the last text of a turn. */
  wakeSigner(): void {
    this.#unannounced = 0
    // Only the signer clears the flag. If it were cleared here just before the signer waits, later texts would not wake it.
    if (this.load(signerSleeps) === 1) Atomics.notify(this.counters, written)
  }

  get pending(): number {
    return (this.#next - this.#taken) | 0
  }

  /** Passes on the next signatures as base64, undefined for a text that could not be signed. */
  take(use: (signature: string | undefined) => void): void {
    for (;;) {
      if (this.#taken === this.load(signed)) {
        if (this.pending === 0) return
        this.store(serverSleeps, 1)
        // The signer may have finished one since; it wakes only a server that sleeps.
        if (this.#taken === this.load(signed)) return
      }
      const start = this.start(this.#taken)
      const [, length] = this.head(this.#taken)
      const signature = length > 0 ? this.bytes.toString('latin1', start, start + length) : undefined
      this.#taken = (this.#taken + 1) | 0
      use(signature)
    }
  }
}

/** The signing thread's side. */
export class RingReader extends Ring {
  #next = 0
  #unreported = 0

  /** Waits for the next text; returns its key number and its bytes, which `answer` overwrites. */
  next(): [keyNumber: number, text: Buffer] {
    while (this.load(written) === this.#next) {
      this.store(signerSleeps, 1)
      Atomics.wait(this.counters, written, this.#next)
      this.store(signerSleeps, 0)
    }
    const [keyNumber, length] = this.head(this.#next)
    const start = this.start(this.#next)
    return [keyNumber, this.bytes.subarray(start, start + length)]
  }

  /** Stores the signature as base64, and wakes the server if it sleeps. */
  answer(signature: string | undefined, wake: () => void): void {
    if (signature !== undefined) this.bytes.write(signature, this.start(this.#next), 'latin1')
    this.setHead(this.#next, 0, signature?.length ?? 0)
    this.#next = (this.#next + 1) | 0
    this.store(signed, this.#next)
    this.#unreported += 1
    if (this.#unreported < wakeServerAfter && this.load(written) !== this.#next) return
    if (Atomics.exchange(this.counters, serverSleeps, 0) === 0) return
    this.#unreported = 0
    wake()
  }
}
