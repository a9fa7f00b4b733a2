import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { NewPasskey, PasskeyAnswer } from '@keyward/contract'

/** What a client or an authenticator does otherwise than the options say. */
export interface Deviation {
  origin?: string
  host?: string
  challenge?: string
  type?: string
  isUserVerified?: boolean
  isUserPresent?: boolean
  counter?: number
  userHandle?: string | null
}

interface CreationOptions {
  rp: { id?: string }
  user: { id: string }
  challenge: string
}

interface RequestOptions {
  rpId?: string
  challenge: string
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest()
const encode = (data: Uint8Array | string) => Buffer.from(data).toString('base64url')

/** An authenticator with one passkey, together with its browser, as W3C Web Authentication Level 3 describes them. */
export class Authenticator {
  readonly id = randomBytes(16)
  readonly #origin: string
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject }
  #counter = 0
  #userHandle = ''

  constructor(origin = 'http://localhost:3000') {
    this.#origin = origin
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  }

  /** Answers `navigator.credentials.create()`. */
  create(options: CreationOptions, deviation: Deviation = {}): NewPasskey {
    this.#userHandle = options.user.id
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const key = new Map<number, number | Buffer>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, cbor(key)])
    const authData = this.#authData(deviation.host ?? options.rp.id ?? '', 0x40, deviation, attested)
    const attestation = new Map<string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ])
    return {
      id: encode(this.id),
      type: 'public-key',
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, deviation),
        attestationObject: encode(cbor(attestation)),
        transports: ['internal'],
      },
    }
  }

  /** Answers `navigator.credentials.get()`. */
  get(options: RequestOptions, deviation: Deviation = {}): PasskeyAnswer {
    this.#counter += 1
    const authenticatorData = this.#authData(deviation.host ?? options.rpId ?? '', 0, deviation)
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, deviation)
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    const { userHandle = this.#userHandle } = deviation
    return {
      id: encode(this.id),
      type: 'public-key',
      response: {
        clientDataJSON,
        authenticatorData: encode(authenticatorData),
        signature: encode(sign('sha256', signed, this.#keys.privateKey)),
        userHandle,
      },
    }
  }

  #clientData(type: string, challenge: string, { origin = this.#origin, ...deviation }: Deviation): string {
    return encode(JSON.stringify({ type, challenge, crossOrigin: false, ...deviation, origin }))
  }

  #authData(
    host: string,
    flag: number,
    { isUserPresent = true, isUserVerified = true, counter = this.#counter }: Deviation,
    attested = Buffer.alloc(0),
  ): Buffer {
    const flags = flag | (isUserPresent ? 1 : 0) | (isUserVerified ? 4 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(host), Buffer.from([flags]), count, attested])
  }
}

type Cbor = number | string | Buffer | Map<string | number, Cbor>

/** CBOR (RFC 8949), as far as a passkey needs it. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])])
}

function head(type: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(type << 5) | count])
  if (count < 256) return Buffer.from([(type << 5) | 24, count])
  return Buffer.from([(type << 5) | 25, count >> 8, count & 255])
}
