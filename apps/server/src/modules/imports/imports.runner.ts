import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { system } from '../../core/actor.ts'
import { minute, second } from '../../core/clock.ts'
import { storageFailureOf } from '../../db/failure.ts'
import { holdsUpOthers, type WriteTransaction } from '../../db/index.ts'
import { called } from '../../db/tables/imports.ts'
import type { DataImportRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { applyRows, ShareUsedUp } from './imports.apply.ts'
import {
  actorOfStored,
  type ClaimedImport,
  ClaimLost,
  claimImport,
  claimMs,
  findRunning,
  hasDue,
  lockClaimed,
  releaseClaims,
  takeOver,
} from './imports.claim.ts'
import { partsAtOnce } from './imports.files.ts'
import { readRows } from './imports.reading.ts'
import * as repo from './imports.repo.ts'
import { undoRows } from './imports.undo.ts'
import { UnreadableFiles } from './rows.ts'

interface Options {
  onError: (error: unknown) => void
  /** How often imports of other nodes and of dead processes are looked for. */
  pollMs?: number | undefined
  /** Whether this process runs imports; otherwise others do. */
  runs?: boolean | undefined
}

const atOnce = 2
/** Files whose reading ends the process would otherwise end each one that follows. */
const attemptsMost = 5
const failedMs = 10 * minute
/** How often a repeat looks whether another process has ended its import. */
const polledMs = second / 5

/** Runs imports that were asked for, also those that an earlier process or another node began. */
export class ImportRunner {
  readonly #ctx: Ctx
  readonly #onError: (error: unknown) => void
  readonly #pollMs: number
  readonly #runs: boolean
  readonly #claim = randomUUID()
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** What a full disk has interrupted here: it goes on as soon as there is space, before its claim ends. */
  readonly #left = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isWanted = false
  #looking: Promise<void> | undefined

  constructor(ctx: Ctx, { onError, pollMs = 2 * second, runs = true }: Options) {
    this.#runs = runs
    this.#ctx = ctx
    this.#onError = onError
    this.#pollMs = pollMs
  }

  async start(): Promise<void> {
    if (!this.#runs) return
    const { db, tx } = this.#ctx
    // The embedded database belongs to this process alone.
    if (holdsUpOthers(db, Number.POSITIVE_INFINITY)) await tx(system, (write) => releaseClaims(write.tx))
    this.#timer = setInterval(() => this.wake(), this.#pollMs)
    this.#timer.unref()
    this.wake()
  }

  wake(): void {
    if (!this.#runs || this.#stopping.signal.aborted) return
    this.#isWanted = true
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  newClaim(): string {
    return `1:${this.#claim}:${randomUUID()}`
  }

  /** Returns once the licenses of a call exist; those that an earlier process, or a full disk, has left too. */
  async complete(id: string, claim: string): Promise<void> {
    for (;;) {
      const found = await findRunning(this.#ctx.db, id)
      if (!found) return
      const row = found.claim === claim ? found : await this.#takeOver(id)
      if (!row) await pause(polledMs)
      else
        await applyRows(this.#ctx, row, (write) => end(write, row)).catch((error) => {
          if (error instanceof ClaimLost) return
          if (storageFailureOf(error) !== undefined) this.#left.add(id)
          throw error
        })
    }
  }

  #takeOver(id: string): Promise<DataImportRow | undefined> {
    const [now, claim, own] = [this.#ctx.clock.now(), this.newClaim(), this.#claim]
    return this.#ctx.tx(system, ({ tx }) => takeOver(tx, id, { claim, own, now, until: now + claimMs }))
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#looking
    await Promise.all(this.#running)
  }

  async #look(): Promise<void> {
    try {
      while (this.#isWanted && this.#running.size < atOnce && !this.#stopping.signal.aborted) {
        this.#isWanted = false
        const row = await this.#claimNext()
        if (!row) return
        this.#isWanted = true
        const work = this.#work(row).finally(() => {
          this.#running.delete(work)
          this.wake()
        })
        this.#running.add(work)
      }
    } catch (error) {
      // It was reported when the disk was found to be full.
      if (this.#left.size === 0 || storageFailureOf(error) === undefined) this.#onError(error)
    }
  }

  async #claimNext(): Promise<ClaimedImport | undefined> {
    for (const id of this.#left) {
      const row = await this.#takeOver(id)
      this.#left.delete(id)
      if (row) return { ...row, attempt: 1 }
    }
    const now = this.#ctx.clock.now()
    if (!(await hasDue(this.#ctx.db, now))) return undefined
    // A claim of its own for each run: an earlier one of this process has lost it.
    const claim = `${this.#claim}:${randomUUID()}`
    return this.#ctx.tx(system, ({ tx }) => claimImport(tx, { claim, now, until: now + claimMs }))
  }

  async #work(row: ClaimedImport): Promise<void> {
    try {
      await this.#run(row)
    } catch (error) {
      if (error instanceof ClaimLost) return
      if (error instanceof ShareUsedUp) return this.#wait(row, error.waitMs).catch(this.#onError)
      if (storageFailureOf(error) !== undefined) {
        this.#onError(error)
        this.#left.add(row.id)
        await pause(this.#pollMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
        return
      }
      const isKnown = error instanceof UnreadableFiles
      if (!isKnown) this.#onError(error)
      // The plan's places are reserved for its licenses, and the caller was promised that they will be created.
      if (row.preset === called) return this.#wait(row, failedMs).catch(this.#onError)
      await this.#fail(row, isKnown ? error.message : 'The server could not finish it').catch(this.#onError)
    }
  }

  /** Gives the claim back until the vendor may make licenses again; it goes on from its last slice. */
  async #wait(row: ClaimedImport, waitMs: number): Promise<void> {
    const actor = actorOfStored(row)
    await this.#ctx.tx(actor, async ({ tx, now }) => {
      await lockClaimed(tx, actor, row)
      await repo.updateImport(tx, actor, row.id, { claim: null, claimed_until: now + waitMs })
    })
  }

  async #run(row: ClaimedImport): Promise<void> {
    const { signal } = this.#stopping
    const ctx = { ...this.#ctx, tx: this.#stoppable(signal) }
    if (row.state === 'undoing') {
      await undoRows(ctx, row)
      return this.#ctx.tx(actorOfStored(row), (write) => end(write, row))
    }
    if (row.is_read === 0 && row.attempt > attemptsMost)
      throw new UnreadableFiles('The server could not read the files. Please split them.')
    if (row.is_read === 0 && !(await readRows(ctx, row, signal))) return this.#ask(row)
    await applyRows(ctx, row, (write) => end(write, row))
    if (row.state === 'running') await removeParts(this.#ctx, row.id)
  }

  /** On shutdown the next slice is not begun; the next process goes on. */
  #stoppable(signal: AbortSignal): Ctx['tx'] {
    const { tx } = this.#ctx
    return (actor, work, options) => {
      if (signal.aborted) throw new ClaimLost('the server stops')
      return tx(actor, work, options)
    }
  }

  /** A real run needs an answer to each question. */
  async #ask(row: DataImportRow): Promise<void> {
    const actor = actorOfStored(row)
    await this.#ctx.tx(actor, async ({ tx }) => {
      await lockClaimed(tx, actor, row)
      await repo.updateImport(tx, actor, row.id, { state: 'waiting', claim: null, claimed_until: null })
    })
  }

  async #fail(row: DataImportRow, reason: string): Promise<void> {
    const actor = actorOfStored(row)
    await this.#ctx.tx(actor, async (write) => {
      await lockClaimed(write.tx, actor, row)
      const end = { state: 'failed', claim: null, claimed_until: null, finished_at: write.now } as const
      await repo.updateImport(write.tx, actor, row.id, { ...end, problem: reason })
      write.record('import.failed', row.id, { reason }, row.app_id)
    })
  }
}

async function end(write: WriteTransaction, row: DataImportRow): Promise<void> {
  const [{ tx, now }, actor] = [write, actorOfStored(row)]
  const { created, licenses, clients, skipped, failed, kept } = await lockClaimed(tx, actor, row)
  const isReal = row.state === 'running'
  const state = row.state === 'undoing' ? 'undone' : isReal ? 'done' : 'checked'
  const ended = { state, claim: null, claimed_until: null, finished_at: now } as const
  await repo.updateImport(tx, actor, row.id, { ...ended, ...(isReal && { files_until: now }) })
  if (row.preset === called) {
    write.record('licenses.imported', row.app_id, { count: created }, row.app_id)
    // The answer that is stored for a repeat is true unless keys were taken.
    if (skipped === 0) await repo.deleteImport(tx, row.id)
    return
  }
  if (isReal) await repo.deleteFileRows(tx, row.id)
  if (row.state === 'undoing') write.record('import.undone', row.id, { kept }, row.app_id)
  else {
    const counts = { licenses, clients, skipped, failed }
    write.record('import.finished', row.id, { dryRun: !isReal, ...counts }, row.app_id)
  }
}

/** Deletes parts that belong to no file, after the files themselves. */
async function removeParts({ clock, tx }: Pick<Ctx, 'clock' | 'tx'>, id: string): Promise<void> {
  const deleteSome = () => tx(system, (write) => repo.deleteLooseParts(write.tx, id, partsAtOnce))
  while ((await deleteSome()) === partsAtOnce);
  await tx(system, (write) => repo.forgetFiles(write.tx, id, clock.now()))
}

/** Deletes files that are kept no longer, and imports with their reports. */
export async function tidyImports(ctx: Pick<Ctx, 'clock' | 'db' | 'tx'>): Promise<void> {
  const now = ctx.clock.now()
  for (const row of await repo.listExpired(ctx.db, now)) {
    const isExpired = await ctx.tx(system, async ({ tx }) => {
      // It may have been run or got a file meanwhile.
      if (!(await repo.lockExpired(tx, row.id, now))) return false
      await repo.deleteFileRows(tx, row.id)
      return true
    })
    if (!isExpired) continue
    await removeParts(ctx, row.id)
    if (row.kept_until > now) continue
    while ((await ctx.tx(system, ({ tx }) => repo.deleteRows(tx, row.id, 500), { rows: 500 })) > 0);
    await ctx.tx(system, ({ tx }) => repo.deleteImport(tx, row.id))
  }
}
