// ADR 97: replaces the secret key while servers run, and seals every value anew.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/clock.ts'
import { createSeal } from '../../core/crypto.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { SealRing } from '../../core/seal-ring.ts'
import { putMeta } from '../meta.ts'
import type { OpenDatabase } from '../open.ts'
import {
  digestKeyName,
  digestKeyOf,
  findKey,
  fingerprintName,
  type KeySettings,
  keysOf,
  readKeyMeta,
  sealDigestKey,
} from '../secret-key.ts'
import { transact } from '../transact.ts'
import { chooseKeys, exchangeKeyFiles, fingerprintOf, hasServer, type KeyPair } from './key-files.ts'
import { readSlice, reseal, type SealedColumn } from './reseal.ts'
import { awaitSealing, awaitServers } from './servers.ts'
import {
  deleteRotation,
  deleteServers,
  insertRotation,
  type Rotation,
  readRotation,
  replaceRotation,
} from './state.ts'

/** A running command shows a new beat at least so often. */
const beatMs = second
const watchedMs = 4 * second
/** A request may have sealed with the old key before its server turned to the new one, and store it after a look. */
const settleMs = 5 * second

export interface RotationOptions {
  columns: readonly SealedColumn[]
  /** How many servers run on PostgreSQL; an embedded database knows it. */
  servers: number | undefined
  clock: Clock
  tell: (line: string) => void
}

export interface RotationReport {
  servers: number
  /** Values that were sealed anew, by table and column. */
  sealed: Record<string, number>
  /** Values that neither key opens, by table and column; they stay as they are. */
  unreadable: Record<string, number>
  /** The file of the old key; null if the environment has it. */
  oldKey: string | null
}

export async function rotateKeys(
  database: OpenDatabase,
  settings: KeySettings,
  options: RotationOptions,
): Promise<RotationReport> {
  const run = new RotationRun(database, settings, options)
  return run.run()
}

class RotationRun {
  readonly #database: OpenDatabase
  readonly #settings: KeySettings
  readonly #options: RotationOptions
  #state!: Rotation
  #beatAt = 0

  constructor(database: OpenDatabase, settings: KeySettings, options: RotationOptions) {
    this.#database = database
    this.#settings = settings
    this.#options = options
  }

  async run(): Promise<RotationReport> {
    const { fingerprint, isReplacingLost } = await readKeyMeta(this.#database)
    if (isReplacingLost)
      throw new OperatorError('Replacing a lost key is unfinished: run keyward keys replace-lost again.')
    if (fingerprint === undefined)
      throw new OperatorError('The database is empty: start Keyward once. Nothing was changed.')
    const unfinished = await readRotation(this.#database.db)
    const keys = chooseKeys(this.#settings, fingerprint, unfinished)
    await this.#begin(unfinished, { from: fingerprint, to: fingerprintOf(keys.to) })
    const servers = this.#state.phase === 'announced' ? await this.#announce() : 0
    if (this.#state.phase === 'announced') await this.#turn(keys)
    await awaitSealing(this.#database.db, this.#state.to, this.#options.tell, () => this.#beat())
    const { sealed, unreadable } = await this.#sealAll(keys)
    const oldKey = exchangeKeyFiles(this.#settings, keys, this.#options.clock.now()) ?? null
    await transact(this.#database.db, (tx) => deleteRotation(tx))
    return { servers, sealed, unreadable, oldKey }
  }

  /** Stores that a rotation begins, or takes over an unfinished one whose command does not run any more. */
  async #begin(unfinished: Rotation | undefined, { from, to }: KeyPair): Promise<void> {
    const { db } = this.#database
    const runner = randomBytes(8).toString('hex')
    if (!unfinished) {
      const phase = from === to ? 'sealing' : 'announced'
      this.#state = { from, to, phase, runner, beat: 0 }
      const isFirst = await transact(db, async (tx) => {
        const inserted = await insertRotation(tx, this.#state)
        if (inserted) await deleteServers(tx)
        return inserted
      })
      if (!isFirst) throw taken()
      return
    }
    this.#options.tell('Going on with an unfinished rotation.')
    const until = performance.now() + watchedMs
    while (performance.now() < until) {
      const now = await readRotation(db)
      if (!now || now.beat !== unfinished.beat || now.runner !== unfinished.runner) throw taken()
      await pause(beatMs / 4)
    }
    const mine = { ...unfinished, runner, beat: unfinished.beat + 1 }
    if (!(await transact(db, (tx) => replaceRotation(tx, unfinished, mine)))) throw taken()
    this.#state = mine
  }

  /** Waits until every server holds both keys. If one does not, nothing has changed. */
  async #announce(): Promise<number> {
    const { db, dialect } = this.#database
    const expected =
      dialect === 'postgres' ? (this.#options.servers ?? 0) : hasServer(this.#settings.dataDir) ? 1 : 0
    try {
      await awaitServers(db, this.#state.to, expected, () => this.#beat())
    } catch (error) {
      if (error instanceof OperatorError && !(error instanceof TakenError)) {
        // The file of the new key stays, for the next run.
        await transact(db, (tx) => deleteRotation(tx))
      }
      throw error
    }
    this.#options.tell(`${expected} running servers hold both keys.`)
    return expected
  }

  /** From this commit on, the database has the new key. */
  async #turn(keys: KeyPair): Promise<void> {
    if (findKey(this.#settings, this.#state.to) === undefined)
      throw new OperatorError('The file of the new key has disappeared. Nothing was changed.')
    const { sealedDigestKey } = await readKeyMeta(this.#database)
    const digestKey = sealDigestKey(keys.to, digestKeyOf(keys.from, sealedDigestKey))
    const next: Rotation = { ...this.#state, phase: 'sealing', beat: this.#state.beat + 1 }
    await transact(this.#database.db, async (tx) => {
      if (!(await replaceRotation(tx, this.#state, next))) throw taken()
      await putMeta(tx, fingerprintName, next.to)
      await putMeta(tx, digestKeyName, digestKey)
    })
    this.#state = next
    this.#options.tell('The database has the new key. Every value is sealed anew now.')
  }

  /** Passes over all columns until a pass that began after every server had turned finds nothing. */
  async #sealAll(keys: KeyPair): Promise<Pick<RotationReport, 'sealed' | 'unreadable'>> {
    const sealed: Record<string, number> = {}
    const settledAt = performance.now() + settleMs
    for (;;) {
      const began = performance.now()
      const unreadable: Record<string, number> = {}
      let changed = 0
      for (const column of this.#options.columns) {
        const name = `${column.table}.${column.column}`
        const done = await this.#sealColumn(column, keys)
        changed += done.sealed
        if (done.sealed > 0) sealed[name] = (sealed[name] ?? 0) + done.sealed
        if (done.unreadable > 0) unreadable[name] = done.unreadable
      }
      if (changed === 0 && began >= settledAt) return { sealed, unreadable }
      if (changed === 0) await this.#pauseUntil(settledAt)
    }
  }

  async #sealColumn(column: SealedColumn, keys: KeyPair): Promise<{ sealed: number; unreadable: number }> {
    const { db } = this.#database
    const target = createSeal(keys.to)
    const [first, ...others] = [{ text: keys.from, tokensUntil: 0 }, ...keysOf(this.#settings)]
    const opener = new SealRing(first as (typeof others)[number], others, Buffer.alloc(32))
    const done = { sealed: 0, unreadable: 0 }
    let after: Awaited<ReturnType<typeof readSlice>>['last']
    do {
      const { found, last } = await readSlice(db, column, after, { target, opener })
      const readable = found.flatMap(({ plain, ...one }) => (plain === undefined ? [] : [{ ...one, plain }]))
      if (readable.length > 0) {
        await transact(
          db,
          async (tx) => {
            if ((await readRotation(tx))?.runner !== this.#state.runner) throw taken()
            for (const one of readable) await reseal(tx, column, one, target)
          },
          { rows: readable.length },
        )
      }
      done.sealed += readable.length
      done.unreadable += found.length - readable.length
      after = last
      await this.#beat()
    } while (after)
    return done
  }

  async #pauseUntil(time: number): Promise<void> {
    while (performance.now() < time) {
      await pause(beatMs / 4)
      await this.#beat()
    }
  }

  /** Shows that this command lives, and finds out whether another one has taken over. */
  async #beat(): Promise<void> {
    if (performance.now() - this.#beatAt < beatMs) return
    const next = { ...this.#state, beat: this.#state.beat + 1 }
    const isMine = await transact(this.#database.db, (tx) => replaceRotation(tx, this.#state, next))
    if (!isMine) throw taken()
    this.#state = next
    this.#beatAt = performance.now()
  }
}

class TakenError extends OperatorError {}

const taken = () => new TakenError('Another keyward keys rotate is running. This one has ended.')
