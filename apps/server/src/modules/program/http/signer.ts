import type { KeyObject } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Seal } from '../../../core/crypto.ts'
import { after, type Soon } from '../../../core/queues/after.ts'
import {
  type Component,
  contentDigest,
  importPrivateKey,
  signatureBase,
} from '../../../core/signing/signing.ts'
import { SigningThread } from '../../../core/signing/signing-thread.ts'
import type { Db } from '../../../db/index.ts'
import { signingContext } from '../../apps/apps.service.ts'
import { listPinnableKeys, type PinnedKey } from '../../signing-keys/signing-keys.access.ts'
import type { AppFacts } from '../facts/facts.ts'

const keysKept = 10_000
const label = 'keyward'

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Signs responses with their app's key; caches decrypted keys. */
export class AnswerSigner {
  readonly #db: Db
  readonly #seal: Seal
  readonly #pathPrefix: string
  readonly #keys = new Map<string, KeyObject>()
  /** Keys of apps with several, by app and version of the set. */
  readonly #sets = new Map<string, Promise<PinnedKey[]>>()
  readonly #thread: SigningThread

  constructor(db: Db, seal: Seal, basePath: string, onError: (error: unknown) => void) {
    this.#db = db
    this.#thread = new SigningThread({ onError })
    this.#seal = seal
    this.#pathPrefix = basePath
  }

  /** Adds Content-Digest, Signature-Input and Signature for this body to a reply. */
  sign(request: FastifyRequest, reply: FastifyReply, app: AppFacts, body: string): Soon<void> {
    const digest = contentDigest(body)
    const components = this.#components(request, reply.statusCode, digest)
    const created = Math.floor(Date.now() / 1000)
    return after(this.#keyFor(request.headers['keyward-keys'], app), (pinned) => {
      const { base, input } = signatureBase(components, { created, keyid: pinned.kid })
      return after(this.#thread.sign(base, this.#key(app.id, pinned)), (signature) => {
        reply.header('content-digest', digest)
        reply.header('signature-input', `${label}=${input}`)
        reply.header('signature', `${label}=:${signature}:`)
      })
    })
  }

  /** Signs the claims of a lease as a compact JWS. Its type keeps it from passing for anything else. */
  async signLease(app: AppFacts, keys: string | undefined, claims: object): Promise<string> {
    return this.#signStatement(app, await this.#keyFor(keys, app), 'keyward-lease+jws', claims)
  }

  /** Signs the claims of an activation with every key of the app that is not revoked, a line for each. */
  async signActivation(app: AppFacts, claims: object): Promise<string> {
    const keys = await listPinnableKeys(this.#db, app.id)
    const lines = (keys.length > 0 ? keys : [app.signing]).map((key) =>
      this.#signStatement(app, key, 'keyward-activation+jws', claims),
    )
    return `${(await Promise.all(lines)).join('\n')}\n`
  }

  /** Signs who was told of a security fix, which everybody can compare with the app's public keys. */
  signEvidence(app: AppFacts, statement: object): Promise<string> {
    return this.#signStatement(app, app.signing, 'keyward-evidence+jws', statement)
  }

  async #signStatement(app: AppFacts, pinned: PinnedKey, typ: string, claims: object): Promise<string> {
    const header = { alg: 'EdDSA', typ, kid: pinned.kid }
    const input = [header, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = await this.#thread.sign(input, this.#key(app.id, pinned))
    return `${input}.${Buffer.from(signature, 'base64').toString('base64url')}`
  }

  /** The Ed25519 signature over Latin-1 bytes, as base64. */
  signText(text: string, key: KeyObject): Promise<string> {
    return this.#thread.sign(text, key)
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  #components(request: FastifyRequest, status: number, digest: string): Component[] {
    const path = pathOf(request.raw.url ?? '/')
    const components: Component[] = [
      ['"@status"', String(status)],
      ['"content-digest"', digest],
      ['"@method";req', request.method],
      ['"@path";req', `${this.#pathPrefix}${path}`],
    ]
    const { 'keyward-nonce': nonce, authorization, 'content-digest': sent } = request.headers
    if (typeof nonce === 'string') components.push(['"keyward-nonce";req', nonce.trim()])
    if (authorization !== undefined) components.push(['"authorization";req', authorization.trim()])
    if (typeof sent === 'string') components.push(['"content-digest";req', sent.trim()])
    return components
  }

  /** The newest key that the program pins and that is not revoked; without such a key the app's usual one. */
  #keyFor(named: string | string[] | undefined, { id, signing }: AppFacts): Soon<PinnedKey> {
    const isOnlyKey = signing.version === 0
    if (isOnlyKey || typeof named !== 'string') return signing
    const pinned = new Set(named.split(',').map((kid) => kid.trim()))
    const set = `${id}:${signing.version}`
    let keys = this.#sets.get(set)
    if (!keys) {
      keys = listPinnableKeys(this.#db, id)
      keys.catch(() => this.#sets.delete(set))
      if (this.#sets.size >= keysKept) this.#sets.clear()
      this.#sets.set(set, keys)
    }
    return keys.then((all) => all.find(({ kid }) => pinned.has(kid)) ?? signing)
  }

  #key(appId: string, { kid, sealed }: PinnedKey): KeyObject {
    let key = this.#keys.get(kid)
    if (!key) {
      key = importPrivateKey(this.#seal.open(sealed, signingContext(appId)))
      if (this.#keys.size >= keysKept) this.#keys.clear()
      this.#keys.set(kid, key)
    }
    return key
  }
}
