import { createSeal, type Seal } from './crypto.ts'

/** A secret key, and until when tokens that it sealed are accepted. */
export interface RingKey {
  text: string
  tokensUntil: number
}

/**
 * Seals with one key, and opens what any of its keys has sealed, so that a server goes on while the key is replaced
 * (ADR 97). Keyed hashes have a key of their own, which stays.
 */
export class SealRing implements Seal {
  readonly #digestKey: Buffer
  readonly #held = new Map<string, { seal: Seal; tokensUntil: number }>()
  #current: Seal
  readonly digest: Seal['digest']

  constructor(current: RingKey, others: readonly RingKey[], digestKey: Buffer) {
    this.#digestKey = digestKey
    this.#current = createSeal(current.text, digestKey)
    this.#held.set(this.#current.fingerprint, { seal: this.#current, tokensUntil: current.tokensUntil })
    this.digest = this.#current.digest
    this.hold(others)
  }

  get fingerprint(): string {
    return this.#current.fingerprint
  }

  has(fingerprint: string): boolean {
    return this.#held.has(fingerprint)
  }

  /** Opens what these keys sealed, too. */
  hold(keys: readonly RingKey[]): void {
    for (const { text, tokensUntil } of keys) {
      const seal = createSeal(text, this.#digestKey)
      const known = this.#held.get(seal.fingerprint)
      if (known) known.tokensUntil = tokensUntil
      else this.#held.set(seal.fingerprint, { seal, tokensUntil })
    }
  }

  /** Seals with this key from now on. Returns false if it does not hold the key. */
  use(fingerprint: string): boolean {
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
    for (const { seal, tokensUntil } of this.#others()) {
      const earlier = tokensUntil > Date.now() ? seal.openToken(sealed, context) : undefined
      if (earlier) return earlier
    }
    return undefined
  }

  #others = () => [...this.#held.values()].filter(({ seal }) => seal !== this.#current)
}
