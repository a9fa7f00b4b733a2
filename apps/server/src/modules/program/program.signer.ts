import type { KeyObject } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Seal } from '../../core/crypto.ts'
import { type Component, contentDigest, importPrivateKey, signatureBase } from '../../core/signing.ts'
import { SigningThread } from '../../core/signing-thread.ts'
import { signingContext } from '../apps/apps.service.ts'
import type { AppFacts } from './program.facts.ts'

const keysKept = 10_000
const label = 'keyward'

/** Signs responses with their app's key; caches decrypted keys. */
export class AnswerSigner {
  readonly #seal: Seal
  readonly #pathPrefix: string
  readonly #keys = new Map<string, KeyObject>()
  readonly #thread: SigningThread

  constructor(seal: Seal, basePath: string, onError: (error: unknown) => void) {
    this.#thread = new SigningThread({ onError })
    this.#seal = seal
    this.#pathPrefix = basePath
  }

  /** Adds Content-Digest, Signature-Input and Signature for this body to a reply. */
  async sign(request: FastifyRequest, reply: FastifyReply, app: AppFacts, body: string): Promise<void> {
    const digest = contentDigest(body)
    const components = this.#components(request, reply.statusCode, digest)
    const created = Math.floor(Date.now() / 1000)
    const { base, input } = signatureBase(components, { created, keyid: app.signing.kid })
    const signature = await this.#thread.sign(base, this.#key(app))
    reply.header('content-digest', digest)
    reply.header('signature-input', `${label}=${input}`)
    reply.header('signature', `${label}=:${signature}:`)
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  #components(request: FastifyRequest, status: number, digest: string): Component[] {
    const [path] = request.raw.url?.split('?', 1) ?? ['/']
    const components: Component[] = [
      ['"@status"', String(status)],
      ['"content-digest"', digest],
      ['"@method";req', request.method],
      ['"@path";req', `${this.#pathPrefix}${path}`],
    ]
    for (const name of ['keyward-nonce', 'authorization', 'content-digest']) {
      const value = request.headers[name]
      if (typeof value === 'string') components.push([`"${name}";req`, value.trim()])
    }
    return components
  }

  #key({ id, signing: { kid, sealed } }: AppFacts): KeyObject {
    let key = this.#keys.get(kid)
    if (!key) {
      key = importPrivateKey(this.#seal.open(sealed, signingContext(id)))
      if (this.#keys.size >= keysKept) this.#keys.clear()
      this.#keys.set(kid, key)
    }
    return key
  }
}
