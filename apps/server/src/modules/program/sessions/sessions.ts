import { limits } from '@keyward/contract'
import { system } from '../../../core/actor.ts'
import { day, dayNumber, second } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { newId } from '../../../core/ids.ts'
import { type ActionRecord, inSlices } from '../../../db/index.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { insertSdk, noteInitWithoutSdk } from '../../apps/apps.access.ts'
import { seeDevices } from '../../devices/devices.access.ts'
import { type ToldDevice, tellDevices } from '../../releases/told.access.ts'
import { deleteOldestSessions, endSession, extendSessions } from '../../sessions/program-sessions.access.ts'
import { extendAfterMs, sessionLifetimeMs } from '../../sessions/program-sessions.rules.ts'
import { type AppFacts, type SessionFacts, toActor } from '../facts/facts.ts'
import { renewSeats, returnSeat } from './seats.ts'

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

/** More of them are noted again, which costs a write. */
const notedMax = 10_000

/**
 * Sessions of programs. `init` writes nothing: its token is the sealed session, and the first sign-in or the logout
 * writes a row, which from then on decides. Extensions are batched into one commit.
 */
export class ProgramSessions {
  readonly #ctx: Needs
  readonly #onError: (error: unknown) => void
  readonly #used = new Set<string>()
  /** The versions of devices to write. */
  readonly #seen = new Map<string, string | null>()
  /** What was noted today of devices with several versions. */
  readonly #noted = new Set<string>()
  #notedDay = 0
  readonly #told = new Map<string, ToldDevice>()
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

  /**
   * Extends a session in use and notes its device as seen, once a day for each version; what is due is written within a
   * second.
   */
  use({
    id,
    expiresAt,
    device,
    version,
  }: Pick<SessionFacts, 'id' | 'expiresAt' | 'device' | 'version'>): void {
    const now = this.#ctx.clock.now()
    const isEnding = expiresAt < now + sessionLifetimeMs - extendAfterMs
    const isUnseen =
      device !== null &&
      (device.lastSeenAt < now - day ||
        (version !== null && device.version !== version && this.#isNewToday(device.id, version, now)))
    if (isEnding) this.#used.add(id)
    if (isUnseen) this.#seen.set(device.id, version)
    if (isEnding || isUnseen) this.#flushSoon()
  }

  /** Programs of two versions on one device take turns no more than once a day. */
  #isNewToday(deviceId: string, version: string, now: number): boolean {
    const today = dayNumber(now)
    if (today !== this.#notedDay || this.#noted.size >= notedMax) this.#noted.clear()
    this.#notedDay = today
    const isNew = !this.#noted.has(`${deviceId} ${version}`)
    if (isNew) this.#noted.add(`${deviceId} ${version}`)
    return isNew
  }

  /** Notes that a signed-in program got the advisory of a release; written once for each device and release. */
  tell({ device, version }: Pick<SessionFacts, 'device' | 'version'>, releaseId: string): void {
    if (device === null || version === null || device.toldRelease === releaseId) return
    this.#told.set(`${releaseId} ${device.id}`, { releaseId, deviceId: device.id, version })
    this.#flushSoon()
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
    const told = [...this.#told.values()]
    for (const due of [this.#used, this.#seen, this.#seated, this.#told]) due.clear()
    if (sessions.length + devices.length + seats.length + told.length === 0) return
    await this.#ctx
      .tx(system, async ({ tx, now }) => {
        for (const some of chunks(sessions)) await extendSessions(tx, some, now + sessionLifetimeMs)
        for (const some of chunks(devices)) await seeDevices(tx, new Map(some), now)
        for (const some of chunks(seats)) await renewSeats(tx, some, now)
        for (const some of chunks(told)) await tellDevices(tx, some, now)
      })
      .catch((error) => {
        // The versions that were not written are noted again with the next check.
        this.#noted.clear()
        this.#onError(error)
      })
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

const chunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / 500) }, (_, at) => all.slice(500 * at, 500 * (at + 1)))

export interface SessionCapOptions {
  /** Sessions of an end user, those that signed out included until they end. */
  most: number
  /** Checks one of so many sign-ins, chosen at random: no other sign-in pays for the count. */
  oneIn: number
}

const usual: SessionCapOptions = { most: limits.sessionsPerEndUser, oneIn: 500 }

/** One key can sign in as often as it likes: of an end user with too many sessions, those unused for longest are ended. */
export class SessionCap {
  readonly #ctx: Pick<Ctx, 'db' | 'tx'>
  readonly #onError: (error: unknown) => void
  readonly #options: SessionCapOptions
  readonly #trimming = new Map<string, Promise<void>>()

  constructor(
    ctx: Pick<Ctx, 'db' | 'tx'>,
    onError: (error: unknown) => void,
    options: SessionCapOptions = usual,
  ) {
    this.#ctx = ctx
    this.#onError = onError
    this.#options = options
  }

  readonly consume = (records: readonly ActionRecord[]): void => {
    for (const { action, targetId } of records) {
      if (action !== 'end_user.signed_in' || targetId === null) continue
      if (Math.random() * this.#options.oneIn < 1) this.#trim(targetId)
    }
  }

  #trim(endUserId: string): void {
    if (this.#trimming.has(endUserId)) return
    const trimmed = inSlices(this.#ctx, system, async ({ tx, now }, size) => ({
      found: await deleteOldestSessions(tx, endUserId, { most: this.#options.most, count: size, now }),
    }))
      .then(() => {}, this.#onError)
      .finally(() => this.#trimming.delete(endUserId))
    this.#trimming.set(endUserId, trimmed)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#trimming.values())
  }
}

/** A cracked program can send any text, so an app keeps a few only. */
const sdksMax = 50
const knownMax = 10_000

/** Remembers which SDKs the programs of an app name, and that some name none; writes only what is new. */
export class ProgramSdks {
  readonly #ctx: Pick<Ctx, 'clock' | 'tx'>
  readonly #onError: (error: unknown) => void
  readonly #known = new Map<string, number>()
  readonly #writing = new Set<Promise<void>>()

  constructor(ctx: Pick<Ctx, 'clock' | 'tx'>, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
  }

  /** Returns at once: `init` waits for no write. */
  note(appId: string, sdk: string | undefined): void {
    const key = `${appId} ${sdk ?? ''}`
    const now = this.#ctx.clock.now()
    const seenAt = this.#known.get(key)
    if (seenAt !== undefined && (sdk !== undefined || now < seenAt + day)) return
    if (this.#known.size >= knownMax) this.#known.clear()
    this.#known.set(key, now)
    const written = this.#ctx
      .tx(system, ({ tx }) =>
        sdk === undefined
          ? noteInitWithoutSdk(tx, appId, now)
          : insertSdk(tx, { app_id: appId, sdk, first_seen_at: now }, sdksMax),
      )
      .catch(this.#onError)
      .finally(() => this.#writing.delete(written))
    this.#writing.add(written)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#writing)
  }
}

/** Ends a session and returns its seat. */
export const logout = (ctx: Pick<Ctx, 'tx'>, session: SessionFacts, address: string): Promise<void> =>
  ctx.tx(toActor(session, address), async (write) => {
    await returnSeat(write.tx, session.id)
    await endSession(write.tx, session, write.now)
    write.record('end_user.signed_out', session.endUser?.id ?? null, {}, session.app.id)
  })
