import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'

/** SHA-256 as hex; tokens, app secrets and hardware ids are stored this way. */
export const sha256 = (text: string): string => hash('sha256', text)

/** Takes as long for digests, or other texts, that differ early as for those that differ late. */
export function sameDigest(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const drawn = { bytes: Buffer.alloc(4096), used: 4096 }

/** Some random bytes. They are drawn from the system in advance: asking it takes longer than most of what needs them. */
export function randomBytes(count: number): Buffer {
  if (count > drawn.bytes.length) return randomFillSync(Buffer.alloc(count))
  if (drawn.used + count > drawn.bytes.length) {
    randomFillSync(drawn.bytes)
    drawn.used = 0
  }
  const next = drawn.bytes.subarray(drawn.used, drawn.used + count)
  drawn.used += count
  const bytes = Buffer.from(next)
  next.fill(0)
  return bytes
}

/** Encrypts secrets at rest with AES-256-GCM; `context` binds a ciphertext to its row and column. */
export interface Seal {
  seal(plain: string, context: string): string
  /** Throws when the text was modified, moved to another row, or encrypted with another key. */
  open(sealed: string, context: string): string
  /** Encrypts a token: a fresh key for each, because random nonces of one key may repeat after billions of tokens. */
  sealToken(plain: Buffer, context: string): string
  /** Undefined for every other text, also for another spelling of the same bytes. */
  openToken(sealed: string, context: string): Buffer | undefined
  /** A keyed hash, for values that are few enough to be enumerated. */
  digest(text: string): string
  /** A keyed hash as hex, four times as fast as `digest`. Only for texts of a fixed length, and only a prefix of the hash may be published. */
  proof(text: string): string
  /** Identifies the key without revealing it. */
  fingerprint: string
}

const deriver = (secretKey: string) => (purpose: string, length: number) =>
  Buffer.from(hkdfSync('sha256', secretKey, 'keyward', purpose, length))

/** The key of keyed hashes. The first secret key of an installation derives it; it outlasts the next ones. */
export const deriveDigestKey = (secretKey: string): Buffer => deriver(secretKey)('digest', 32)

export function createSeal(secretKey: string, digestKey = deriveDigestKey(secretKey)): Seal {
  const derive = deriver(secretKey)
  const key = derive('seal', 32)
  const tokenKey = derive('token', 32)
  const proofKey = createHmac('sha256', digestKey).update('proof').digest('hex')
  const keyOfToken = (salt: Buffer) => createHmac('sha256', tokenKey).update(salt).digest()
  return {
    fingerprint: derive('fingerprint', 16).toString('hex'),
    seal(plain, context) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')}`
    },
    open(sealed, context) {
      if (!sealed.startsWith('v1.')) throw new Error('unknown form of sealed text')
      const bytes = Buffer.from(sealed.slice(3), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
    sealToken(plain, context) {
      const nonce = randomBytes(28)
      const cipher = createCipheriv('aes-256-gcm', keyOfToken(nonce.subarray(0, 16)), nonce.subarray(16))
      cipher.setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    openToken(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < 44 || bytes.toString('base64url') !== sealed) return undefined
      const decipher = createDecipheriv(
        'aes-256-gcm',
        keyOfToken(bytes.subarray(0, 16)),
        bytes.subarray(16, 28),
        { authTagLength: 16 },
      )
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(28, 44))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(44)), decipher.final()])
      } catch {
        return undefined
      }
    },
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('hex'),
    proof: (text) => hash('sha256', proofKey + text, 'hex'),
  }
}

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

export const webhookSecretPrefix = 'whsec_'

/** The signature of a body by Standard Webhooks, in Base64. */
export const signWebhook = (
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: string; body: string | Buffer },
): string =>
  createHmac('sha256', Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')
