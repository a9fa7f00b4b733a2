import { createHash } from 'node:crypto'
import { second } from '../clock.ts'

const timeoutMs = 2 * second
const restMs = 30 * second
const atOnce = 32
/** Usual answers have 40 kB. */
const answerBytesMax = 1_048_576

interface Options {
  /** The address of a range API, without the last part of the path; undefined turns the check off. */
  url: string | undefined
  onError: (error: unknown) => void
  timeoutMs?: number
}

/**
 * Queries a range API for leaked passwords. It receives the first five digits of the password's SHA-1, which
 * thousands of passwords share. Without an answer in time the password counts as not leaked. After a failure no
 * requests are sent for a while: an outage there must not stop registrations here.
 */
export class LeakedPasswords {
  readonly #options: Options
  #asking = 0
  #restsUntil = 0

  constructor(options: Options) {
    this.#options = options
  }

  async has(password: string): Promise<boolean> {
    const { url, onError } = this.#options
    if (url === undefined || this.#asking >= atOnce || performance.now() < this.#restsUntil) return false
    const hash = createHash('sha1').update(password, 'utf8').digest('hex').toUpperCase()
    this.#asking += 1
    try {
      return contains(await this.#read(`${url}/${hash.slice(0, 5)}`), hash.slice(5))
    } catch (error) {
      this.#restsUntil = performance.now() + restMs
      // Report only the name of the error: its message may contain the address with the digits of the hash.
      onError(new Error(`LEAKED_PASSWORDS_URL does not answer: ${(error as Error).name}`))
      return false
    } finally {
      this.#asking -= 1
    }
  }

  async #read(address: string): Promise<string> {
    const response = await fetch(address, {
      headers: { 'add-padding': 'true', 'user-agent': 'Keyward' },
      redirect: 'error',
      signal: AbortSignal.timeout(this.#options.timeoutMs ?? timeoutMs),
    })
    if (!response.ok || !response.body) throw new Error(`status ${response.status}`)
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of response.body) {
      size += part.length
      if (size > answerBytesMax) throw new Error('the answer is too large')
      parts.push(part)
    }
    return Buffer.concat(parts).toString('latin1')
  }
}

/** Lines have the rest of a hash and how often it leaked; padding has zero. */
function contains(answer: string, rest: string): boolean {
  const line = new RegExp(`^${rest}:0*[1-9]\\d*\\s*$`, 'm')
  return line.test(answer.toUpperCase())
}
