import { system } from '../../../core/actor.ts'
import { day, second } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { newId } from '../../../core/ids.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { touchDevices } from '../../devices/devices.access.ts'
import { extendSessions } from '../../sessions/program-sessions.access.ts'
import { extendAfterMs, sessionLifetimeMs } from '../../sessions/program-sessions.rules.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import { renewSeats } from './seats.repo.ts'

/** The longest JSON of a session's fields, which every request sends back in its token. */
export const sessionFieldBytesMax = 512

/** What `init` was sent and later calls need. A sign-in has to store it in the session's row. */
export type SessionFields = { version?: string; locale?: string }

/** Content of a sealed token. */
interface Sealed {
  id: string
  expiresAt: number
  secretVersion: number
  fields: SessionFields
}

/** A session that no end user has signed in to: its token says all that is known of it. */
export const sessionWithoutRow = (
  app: AppFacts,
  opened: Pick<SessionFacts, 'id' | 'expiresAt' | 'secretVersion' | 'tokenHash' | 'version' | 'locale'>,
): SessionFacts => ({
  ...opened,
  releasedAt: null,
  covered: { newestAt: null, last: null },
  hwidHash: null,
  app,
  endUser: null,
  device: null,
  seatUntil: null,
  firstKey: null,
})

type Needs = Pick<Ctx, 'clock' | 'seal' | 'tx'>

const prefix = 'kwc_'
const idPrefix = 'cse_'
const contextOf = (app: { id: string }): string => `packed_session:${app.id}`
/** The context of tokens that earlier versions sealed as JSON. */
const earlierContextOf = (app: { id: string }): string => `client_session:${app.id}`

/**
 * Sessions of programs. `init` writes nothing: its token is the sealed session, and the first sign-in or the logout
 * writes a row, which from then on decides. Extensions are batched into one commit.
 */
export class ProgramSessions {
  readonly #ctx: Needs
  readonly #onError: (error: unknown) => void
  readonly #used = new Set<string>()
  readonly #seen = new Set<string>()
  readonly #seated = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Needs, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
  }

  open(
    app: { id: string; secretVersion: number },
    fields: SessionFields = {},
  ): { token: string; expiresAt: number } {
    const size = Buffer.byteLength(JSON.stringify(fields))
    if (size > sessionFieldBytesMax) throw new Error(`the fields of a session have ${size} bytes`)
    const expiresAt = this.#ctx.clock.now() + sessionLifetimeMs
    const sealed: Sealed = { id: newId('cse'), expiresAt, secretVersion: app.secretVersion, fields }
    const token = prefix + this.#ctx.seal.sealToken(pack(sealed), contextOf(app))
    return { token, expiresAt }
  }

  /** The session of a token without a row; undefined unless this installation sealed it for this app. */
  unseal(token: string, app: AppFacts): SessionFacts | undefined {
    if (!token.startsWith(prefix)) return undefined
    const sealed = this.#unseal(token.slice(prefix.length), app)
    if (!sealed) return undefined
    const { fields, ...session } = sealed
    const { version = null, locale = null } = fields
    return sessionWithoutRow(app, { ...session, tokenHash: sha256(token), version, locale })
  }

  #unseal(text: string, app: AppFacts): Sealed | undefined {
    const packed = this.#ctx.seal.openToken(text, contextOf(app))
    if (packed) return unpack(packed)
    const earlier = this.#ctx.seal.openToken(text, earlierContextOf(app))
    return earlier && JSON.parse(earlier.toString())
  }

  /** Extends a session in use and notes its device as seen, once a day; what is due is written within a second. */
  use({ id, expiresAt, device }: Pick<SessionFacts, 'id' | 'expiresAt' | 'device'>): void {
    const now = this.#ctx.clock.now()
    const isEnding = expiresAt < now + sessionLifetimeMs - extendAfterMs
    const isUnseen = device !== null && device.lastSeenAt < now - day
    if (isEnding) this.#used.add(id)
    if (isUnseen) this.#seen.add(device.id)
    if (isEnding || isUnseen) this.#flushSoon()
  }

  /** Renews the seat of a session, once a quarter of the timeout has passed. */
  renewSeat({ id }: { id: string }, until: number, timeoutMs: number): void {
    if (until - this.#ctx.clock.now() > (3 / 4) * timeoutMs) return
    this.#seated.add(id)
    this.#flushSoon()
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), second)
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const sessions = [...this.#used]
    const devices = [...this.#seen]
    const seats = [...this.#seated]
    for (const due of [this.#used, this.#seen, this.#seated]) due.clear()
    if (sessions.length + devices.length + seats.length === 0) return
    await this.#ctx
      .tx(system, async ({ tx, now }) => {
        for (const some of chunks(sessions)) await extendSessions(tx, some, now + sessionLifetimeMs)
        for (const some of chunks(devices)) await touchDevices(tx, some, now)
        for (const some of chunks(seats)) await renewSeats(tx, some, now)
      })
      .catch(this.#onError)
  }
}

const headBytes = 16 + 6 + 4

/** Packs a session into few bytes, because every call of a program carries its token and signs it. */
function pack({ id, expiresAt, secretVersion, fields }: Sealed): Buffer {
  const head = Buffer.alloc(headBytes)
  head.write(id.slice(idPrefix.length), 'hex')
  head.writeUIntBE(expiresAt, 16, 6)
  head.writeInt32BE(secretVersion, 22)
  return Buffer.concat([head, Buffer.from(JSON.stringify(fields))])
}

const unpack = (packed: Buffer): Sealed => ({
  id: idPrefix + packed.toString('hex', 0, 16),
  expiresAt: packed.readUIntBE(16, 6),
  secretVersion: packed.readInt32BE(22),
  fields: JSON.parse(packed.toString('utf8', headBytes)),
})

const chunks = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / 500) }, (_, at) => ids.slice(500 * at, 500 * (at + 1)))
