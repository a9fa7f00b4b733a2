import { createSeal, type Seal } from './crypto.ts'

/** A secret key, and until when tokens that it sealed are accepted. */
export interface RingKey {
  text: string
  tokensUntil: number
}

interface Held {
  seal: Seal
  tokensUntil: number
}

/**
 * Seals with one key, and opens what any of its keys has sealed, so that a server goes on while the key is replaced
 * (ADR 97). Keyed hashes have a key of their own, which stays.
 */
export class SealRing implements Seal {
  readonly #readKeys: () => readonly RingKey[]
  readonly #digestKey: Buffer
  readonly #held = new Map<string, Held>()
  #current: Seal
  readonly digest: Seal['digest']
  readonly proof: Seal['proof']

  /** Seals with the key of this fingerprint. `readKeys` is asked again for one that is missing: a rotation adds files. */
  constructor(fingerprint: string, readKeys: () => readonly RingKey[], digestKey: Buffer) {
    this.#readKeys = readKeys
    this.#digestKey = digestKey
    this.#readNew()
    const current = this.#held.get(fingerprint)?.seal
    if (!current) throw new Error('the key of the ring is missing')
    this.#current = current
    this.digest = current.digest
    this.proof = current.proof
  }

  get fingerprint(): string {
    return this.#current.fingerprint
  }

  has(fingerprint: string): boolean {
    if (!this.#held.has(fingerprint)) this.#readNew()
    return this.#held.has(fingerprint)
  }

  /** Seals with this key from now on. Returns false if it does not hold the key. */
  use(fingerprint: string): boolean {
    if (fingerprint === this.fingerprint) return true
    this.#readNew()
    const held = this.#held.get(fingerprint)
    if (held) this.#current = held.seal
    return held !== undefined
  }

  seal = (plain: string, context: string): string => this.#current.seal(plain, context)

  open = (sealed: string, context: string): string => {
    try {
      return this.#current.open(sealed, context)
    } catch (error) {
      for (const { seal } of this.#others()) {
        try {
          return seal.open(sealed, context)
        } catch {
          // Another key may have sealed it.
        }
      }
      throw error
    }
  }

  sealToken = (plain: Buffer, context: string): string => this.#current.sealToken(plain, context)

  openToken = (sealed: string, context: string): Buffer | undefined => {
    const opened = this.#current.openToken(sealed, context)
    if (opened) return opened
    for (const { seal, tokensUntil } of this.#held.values()) {
      const earlier = tokensUntil > Date.now() ? seal.openToken(sealed, context) : undefined
      if (earlier) return earlier
    }
    return undefined
  };

  /** All keys but the current one, then those that are new. */
  *#others(): Iterable<Held> {
    yield* [...this.#held.values()].filter(({ seal }) => seal !== this.#current)
    yield* this.#readNew()
  }

  #readNew(): Held[] {
    const found: Held[] = []
    for (const { text, tokensUntil } of this.#readKeys()) {
      const seal = createSeal(text, this.#digestKey)
      const known = this.#held.get(seal.fingerprint)
      if (known) known.tokensUntil = tokensUntil
      else {
        this.#held.set(seal.fingerprint, { seal, tokensUntil })
        found.push({ seal, tokensUntil })
      }
    }
    return found
  }
}
