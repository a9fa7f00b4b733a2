// ADR 14: write transactions share commits.
import type { SQLInputValue } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { isSqliteBusy, NeighborFailedError } from '../failure.ts'
import { SearchMerges } from '../lists/search-merges.ts'
import { Checkpoints, LogSync } from './checkpoints.ts'
import type { SqliteHandle, SqliteResult } from './handle.ts'
import { outside, SqliteThread } from './thread.ts'
import { GroupedTransaction, LongTransaction, type Transaction } from './transactions.ts'

type Settle = (error?: unknown) => void

interface Group {
  /** Transactions that have ended and wait for the commit. */
  waiting: Settle[]
  openedAt: number
  /** Whether a transaction joined since the event loop turned last. */
  hasGrown: boolean
  /** The event loop has turned while a transaction was under way. */
  isDue: boolean
}

export interface GroupLimits {
  transactions: number
  ms: number
}

const defaultLimits: GroupLimits = { transactions: 64, ms: 5 }

/** How long transactions wait for a write of another process, such as a command of the operator. */
const lockWaitMs = 10_000
/** The checkpoint thread keeps it for milliseconds, other processes for longer. */
const lockRetryMs = { first: 1, most: 10 }

/**
 * Lets write transactions share commits, because a commit waits for the disk. They run one after the other, each in
 * a savepoint of its own, and end when the commit of all of them is on disk, which does not block the server's thread.
 * A group is committed in the first turn of the event loop in which none joins it. A long transaction runs on another
 * thread while it has the turn.
 */
export class CommitGroups {
  readonly #writer: SqliteHandle
  readonly #limits: GroupLimits
  readonly #onFailure: (error: unknown) => void
  readonly #queue: (() => void)[] = []
  /** Long transactions let the others go first, but wait for one group at most. */
  readonly #longQueue: (() => void)[] = []
  readonly #log: LogSync
  readonly #checkpoints: Checkpoints
  readonly #thread: SqliteThread
  readonly #merges: SearchMerges
  #isBusy = false
  #isClosed = false
  #group: Group | undefined
  /** Shared by all that queue, so that they do not wait one after the other. */
  #lockedSince: number | undefined

  constructor(
    writer: SqliteHandle,
    onFailure: (error: unknown) => void,
    limits = defaultLimits,
    log = new LogSync(() => `${writer.database.location()}-wal`, onFailure),
  ) {
    this.#writer = writer
    this.#log = log
    // SQLite no longer syncs the log at a commit; every commit of this connection goes through `#commit`, which does.
    writer.database.exec('pragma synchronous = normal')
    this.#checkpoints = new Checkpoints(writer, (cause) => log.fail(cause))
    this.#thread = new SqliteThread({ path: writer.database.location() ?? '', readOnly: false })
    this.#merges = new SearchMerges(writer.database)
    this.#onFailure = onFailure
    this.#limits = limits
  }

  /** Begins a transaction when it is its turn; a long one on another thread, with a commit of its own. */
  async begin(wantsThread: boolean): Promise<Transaction> {
    if (wantsThread && this.#checkpoints.shortening) await this.#checkpoints.shortening
    // Other transactions need not wait for its start.
    const isLong = wantsThread && (await this.#startThread())
    await this.#takeTurn(isLong ? this.#longQueue : this.#queue)
    try {
      if (this.#isClosed) throw new Error('the database is being closed')
      if (this.#log.failure) throw this.#log.failure
      if (isLong) return await this.#beginLong()
      this.#group ??= await this.#open()
      this.#writer.prepare('savepoint one').run()
      this.#group.hasGrown = true
      return new GroupedTransaction(this)
    } catch (error) {
      this.#checkLost(error)
      this.#passTurn()
      throw error
    }
  }

  /** Whether transactions wait for the one that has the turn. */
  get othersWait(): boolean {
    return this.#queue.length > 0 || this.#longQueue.length > 0
  }

  /** Resolves when the log is short enough for many more rows, or after a while: a reader may keep it. */
  untilLogIsShort(): Promise<void> {
    return this.#checkpoints.untilShort()
  }

  /** Without another thread, the server's runs long transactions, too. */
  async #startThread(): Promise<boolean> {
    try {
      await this.#thread.start()
      return true
    } catch (error) {
      this.#onFailure(error)
      return false
    }
  }

  async #beginLong(): Promise<Transaction> {
    this.#commit()
    await this.#lockDatabase(() => this.#thread.run(outside.begin))
    return new LongTransaction(this.#thread, (outcome, failure) => this.#endLong(outcome, failure))
  }

  /** Passes the turn on; after a commit, or while another is not on disk yet, resolves when everything is. */
  async #endLong(outcome: 'committed' | 'rolled back', failure: unknown): Promise<void> {
    if (failure !== undefined) this.#onFailure(failure)
    if (outcome === 'committed') this.#writer.commits += 1
    const isOnDisk = new Promise<void>((resolve, reject) => {
      if (outcome === 'rolled back' && !this.#log.isPending) return resolve()
      this.#log.sync([(error) => (error === undefined ? resolve() : reject(error))])
    })
    this.#passTurn()
    if (outcome === 'committed') this.#checkpoints.startAfterMany()
    await isOnDisk
  }

  /** Ends the transaction that has the turn; resolves when what it saw and wrote is on disk. */
  async end(how: 'release' | 'rollback'): Promise<void> {
    let committed: Promise<void> | undefined
    try {
      const group = this.#group
      if (!group) throw new Error('there is no transaction')
      if (how === 'rollback') this.#writer.prepare('rollback to one').run()
      this.#writer.prepare('release one').run()
      // A refusal, too, may rest on what a neighbor has written, or an earlier commit that is not on disk yet.
      if (how === 'release' || group.waiting.length > 0 || this.#log.isPending) {
        committed = new Promise((resolve, reject) => {
          group.waiting.push((error) => (error === undefined ? resolve() : reject(error)))
        })
      }
    } catch (error) {
      this.#lose(error)
      throw error
    } finally {
      this.#passTurn()
    }
    await committed
  }

  /** Runs a statement of the transaction that has the turn. */
  run(text: string, parameters: SQLInputValue[]): SqliteResult {
    this.#merges.note(text)
    try {
      return this.#writer.run(text, parameters)
    } catch (error) {
      this.#checkLost(error)
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#group !== undefined
  }

  /** Gives the turn back after the whole group was lost. */
  leave(): void {
    this.#passTurn()
  }

  /** Commits what has ended; a transaction that is under way is rolled back, and its neighbors with it. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#isBusy) this.#lose(new Error('the database is being closed'))
    else this.#commit()
    await this.#thread.close()
    await this.#log.close()
    await this.#checkpoints.close()
    // The next start needs the log: only SQLite's recovery checks what of it is on disk.
    if (this.#log.failure) this.#writer.leaveOpen()
  }

  async #open(): Promise<Group> {
    if (this.#isInTransaction()) this.#writer.prepare('rollback').run()
    await this.#lockDatabase(() => this.#writer.prepare('begin immediate').run())
    const group = { waiting: [], openedAt: performance.now(), hasGrown: false, isDue: false }
    this.#commitSoon(group)
    return group
  }

  /** Waits without blocking the thread: reads are answered even while another process keeps the lock. */
  async #lockDatabase(lock: () => unknown): Promise<void> {
    for (let retryMs = lockRetryMs.first; ; retryMs = Math.min(retryMs * 2, lockRetryMs.most)) {
      try {
        await lock()
        this.#lockedSince = undefined
        return
      } catch (error) {
        if (!isSqliteBusy(error)) throw error
        this.#lockedSince ??= performance.now()
        if (performance.now() - this.#lockedSince >= lockWaitMs) throw error
      }
      await pause(retryMs)
    }
  }

  #commitSoon(group: Group): void {
    setImmediate(() => {
      if (this.#group !== group) return
      if (this.#isBusy) {
        group.isDue = true
      } else if (group.hasGrown) {
        group.hasGrown = false
        this.#commitSoon(group)
      } else {
        this.#commit()
      }
    })
  }

  #commit(): void {
    const group = this.#group
    if (!group) return
    this.#group = undefined
    try {
      this.#merges.run()
      this.#writer.prepare('commit').run()
    } catch (error) {
      this.#onFailure(error)
      this.#rollBack()
      for (const settle of group.waiting) settle(error)
      return
    }
    this.#writer.commits += 1
    this.#log.sync(group.waiting)
    this.#checkpoints.start()
  }

  /** SQLite automatically rolls back the whole transaction when the disk is full or fails. */
  #checkLost(error: unknown): void {
    if (!this.#isInTransaction()) this.#lose(error)
  }

  #lose(cause: unknown): void {
    const group = this.#group
    this.#group = undefined
    this.#rollBack()
    for (const settle of group?.waiting ?? []) settle(new NeighborFailedError(cause))
  }

  #rollBack(): void {
    if (!this.#isInTransaction()) return
    try {
      this.#writer.prepare('rollback').run()
    } catch (error) {
      this.#onFailure(error)
    }
  }

  #isInTransaction(): boolean {
    const { database } = this.#writer
    return database.isOpen && database.isTransaction
  }

  async #takeTurn(queue: (() => void)[]): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => queue.push(resolve))
    this.#isBusy = true
  }

  /** The turn goes to the next one directly, so that no other can take it in between. */
  #passTurn(): void {
    const group = this.#group
    const isFull = group !== undefined && this.#isFull(group)
    if (isFull) this.#commit()
    const [first, second] = isFull ? [this.#longQueue, this.#queue] : [this.#queue, this.#longQueue]
    const next = first.shift() ?? second.shift()
    if (next) {
      next()
      return
    }
    this.#isBusy = false
    this.#lockedSince = undefined
    if (group?.isDue) {
      group.isDue = false
      this.#commitSoon(group)
    }
  }

  #isFull({ waiting, openedAt }: Group): boolean {
    return waiting.length >= this.#limits.transactions || performance.now() - openedAt >= this.#limits.ms
  }
}
