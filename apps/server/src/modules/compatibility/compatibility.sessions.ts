import type { CompatibilityProtocol } from '@keyward/contract'
import { sha256 } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { AppFacts, ProgramCalls, SessionFacts } from '../program/program.service.ts'

/** What `init` was sent and later calls need. */
export interface Opened {
  id: string
  expiresAt: number
  secretVersion: number
  protocol: CompatibilityProtocol
  /** What the program chose to sign or encrypt with; null if it sent none. */
  enckey: string | null
  version: string | null
}

const contextOf = (appId: string): string => `compatibility.session:${appId}`

/** The hash of a session in our own rows. No token of our own protocol, which checks more, can contain the line feed. */
export const hashOf = (token: string): string => sha256(`compatibility\n${token}`)

const openedMax = 10_000

/** The id of a session is the session itself, sealed: it survives a restart, and signs the last answers after its end. */
export class SessionTokens {
  readonly #ctx: Pick<Ctx, 'seal' | 'clock'>
  readonly #lifetimeMs: number
  /** Opening one takes as long as all the rest of a check. */
  readonly #opened = new Map<string, Opened & { appId: string }>()

  constructor(ctx: Pick<Ctx, 'seal' | 'clock'>, lifetimeMs: number) {
    this.#ctx = ctx
    this.#lifetimeMs = lifetimeMs
  }

  open(
    app: AppFacts,
    { protocol, enckey, version }: Pick<Opened, 'protocol' | 'enckey' | 'version'>,
  ): { token: string; opened: Opened } {
    const { seal, clock } = this.#ctx
    const { secretVersion } = app
    const [id, expiresAt] = [newId('cse'), clock.now() + this.#lifetimeMs]
    const sealed = JSON.stringify([id, expiresAt, secretVersion, protocol, enckey, version])
    const token = seal.sealToken(Buffer.from(sealed), contextOf(app.id))
    return {
      token: Buffer.from(token, 'base64url').toString('hex'),
      opened: { id, expiresAt, secretVersion, protocol, enckey, version },
    }
  }

  /** Undefined unless this installation sealed it for this app. */
  read(appId: string, token: string): Opened | undefined {
    const kept = this.#opened.get(token)
    if (kept) return kept.appId === appId ? kept : undefined
    if (!/^(?:[0-9a-f]{2}){44,512}$/.test(token)) return undefined
    const packed = Buffer.from(token, 'hex').toString('base64url')
    const sealed = this.#ctx.seal.openToken(packed, contextOf(appId))
    if (!sealed) return undefined
    const [id, expiresAt, secretVersion, protocol, enckey, version] = JSON.parse(sealed.toString())
    const opened = { appId, id, expiresAt, secretVersion, protocol, enckey, version }
    if (this.#opened.size >= openedMax) this.#opened.clear()
    this.#opened.set(token, opened)
    return opened
  }
}

/** The session as our own calls know it. */
export function toSession(
  calls: ProgramCalls,
  app: AppFacts,
  token: string,
  { opened, stored }: { opened: Opened; stored: SessionFacts | undefined },
): SessionFacts {
  if (stored) return stored
  const { id, expiresAt, secretVersion, version } = opened
  return calls.sessionWithoutRow(app, {
    ...{ id, expiresAt, secretVersion, version },
    tokenHash: hashOf(token),
    locale: null,
  })
}
