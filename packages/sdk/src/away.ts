import { KeywardNetworkError, type NetworkErrorCode } from './errors.ts'

/** How long what is stored answers at once after a network error. */
const awayMs = 60_000
const pauseBetweenProbesMs = 5_000
/** How long a call waits for the server if what is stored could answer. */
export const patienceMs = 3_000

/** Whether the server is away, so that calls need not wait for it. */
export class Away {
  #until = 0
  #ends = 0
  #code: NetworkErrorCode | undefined
  #nextProbeAt = 0
  #isProbing = false

  /** The last network error while the server is away. */
  get code(): NetworkErrorCode | undefined {
    return performance.now() < this.#until ? this.#code : undefined
  }

  note({ code }: KeywardNetworkError): void {
    this.#code = code
    this.#until = performance.now() + awayMs
  }

  end(): void {
    this.#until = 0
    this.#ends += 1
  }

  /** Asks the server in the background, unless that is done already or was just tried. */
  probe(ask: () => Promise<unknown>): void {
    if (this.#isProbing || performance.now() < this.#nextProbeAt) return
    this.#isProbing = true
    const ends = this.#ends
    // The server may have answered another call since.
    const noteUnlessEnded = (error: KeywardNetworkError) => ends === this.#ends && this.note(error)
    ask()
      .then(
        () => this.end(),
        // The next call learns in the foreground what the server says.
        (error) => (error instanceof KeywardNetworkError ? noteUnlessEnded(error) : this.end()),
      )
      .finally(() => {
        this.#isProbing = false
        this.#nextProbeAt = performance.now() + pauseBetweenProbesMs
      })
  }
}
