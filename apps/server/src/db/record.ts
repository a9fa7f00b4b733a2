import {
  type ActionDetail,
  type ActionName,
  type ActionOnApp,
  actions,
  isEventName,
  isLogged,
} from '@keyward/contract'
import type { CompiledQuery, Kysely } from 'kysely'
import { type Actor, type ProgramActor, toAuditColumns } from '../core/actor.ts'
import { newId } from '../core/ids.ts'
import { insertObjects, queueRecords, toStoredDetail } from './record-rows.ts'
import { connectionOf, prepared } from './statements.ts'
import type { Tables, Tx } from './tables.ts'
import { stepsOf, type TransactionOptions, transact } from './transact.ts'

/** Who did what to which object, and what it changed. */
export interface ActionRecord {
  id: string
  action: ActionName
  actor: Actor
  /** The owner whose rows changed; null for changes that concern all owners. */
  ownerId: string | null
  targetId: string | null
  /** The app that it concerns; null for all, or for none in particular. */
  appId: string | null
  detail: unknown
  /** What it concerns besides its target; their histories show it. */
  objects: readonly string[]
  /** Milliseconds since 1970. */
  at: number
}

/** Rows that are written by the transactions that cause them, and delivered afterwards. */
export type QueueName =
  | 'mails'
  | 'webhooks'
  | 'reset requests'
  | 'shop events'
  | 'waiting mails'
  | 'customer mails'

/** A transaction that records the actions of its actor. */
export class WriteTransaction {
  readonly tx: Tx
  readonly actor: Actor
  /** Milliseconds since 1970, constant within the transaction. */
  readonly now: number
  /** Queues that it adds rows to: their deliveries begin after the commit. */
  readonly queues = new Set<QueueName>()
  readonly #records: ActionRecord[] = []
  readonly #last: LastStatements[] = []
  /** The statement that queues its records for webhooks. */
  #queueing: CompiledQuery | undefined
  #bytes = 0
  #growth = 0
  readonly #waitToGrow: WaitToGrow

  constructor(tx: Tx, actor: Actor, now: number, waitToGrow: WaitToGrow = () => 0) {
    this.tx = tx
    this.actor = actor
    this.now = now
    this.#waitToGrow = waitToGrow
  }

  /**
   * Milliseconds until licenses may be made that nobody waits for at a screen: their vendor's share of the hour is used up.
   * `part` is what they may use of it.
   */
  waitToGrow(part = 1): number {
    return this.#waitToGrow(part)
  }

  /**
   * Records an action; stored by the transaction's last statement, published after the commit. Members with some apps see
   * only the records of these, so an action on an app names it, and an action on several is recorded for each.
   */
  record<N extends ActionName>(
    action: N,
    targetId: string | null,
    detail: ActionDetail<N>,
    ...app: N extends ActionOnApp ? [appId: string | null] : [appId?: string | null]
  ): void {
    this.#add(action, targetId, detail, app[0], [])
  }

  /** Records an action on an app that concerns further objects. */
  recordWith<N extends ActionOnApp>(
    objects: readonly string[],
    action: N,
    targetId: string | null,
    detail: ActionDetail<N>,
    appId: string | null,
  ): void {
    this.#add(action, targetId, detail, appId, objects)
  }

  #add<N extends ActionName>(
    action: N,
    targetId: string | null,
    detail: ActionDetail<N>,
    onApp: string | null | undefined,
    objects: readonly string[],
  ): void {
    const { actor } = this
    const { appId = null } = actor as Partial<ProgramActor>
    const { count = 0 } = detail as { count?: number }
    // Licenses of shops and imports have a share of their own.
    if (action === 'licenses.imported' || (action === 'licenses.created' && actor.kind === 'shop'))
      this.#growth += count * licenseBytes
    else if (action === 'licenses.created') this.spend(count * licenseBytes)
    this.#records.push({
      id: newId('aud'),
      action,
      actor,
      ownerId: actor.ownerId,
      targetId,
      appId: onApp ?? appId,
      detail: actions[action].parse(detail),
      objects,
      at: this.now,
    })
  }

  /** Records an action on many objects, once for each of their apps; `changed` are the ids that it names, `also` those that followed. */
  recordByApp<N extends ActionOnApp>(
    action: N,
    objects: readonly { id: string; app_id: string }[],
    detailOf: (ids: string[]) => ActionDetail<N>,
    {
      changed = objects.map(({ id }) => id),
      also = [],
    }: { changed?: readonly string[]; also?: readonly { id: string; app_id: string }[] } = {},
  ): void {
    const ids = new Set(changed)
    for (const [appId, ofApp] of Map.groupBy(objects, ({ app_id }) => app_id)) {
      const named = ofApp.map(({ id }) => id).filter((id) => ids.has(id))
      const followed = also.filter(({ app_id }) => app_id === appId).map(({ id }) => id)
      this.recordWith<ActionOnApp>([...named, ...followed], action, null, detailOf(named), appId)
    }
  }

  /**
   * Runs statements after the records are stored, together with the commit: they lock rows that many callers want.
   * They fail when the transaction ends.
   */
  last(statements: LastStatements): void {
    this.#last.push(statements)
  }

  /** What it has recorded so far. */
  get records(): readonly ActionRecord[] {
    return this.#records
  }

  /** Counts further bytes that the transaction stores for long, for the account's budget. */
  spend(bytes: number): void {
    this.#bytes += bytes
  }

  /** Inserts the records into the audit log and runs the last statements. Returns the records, and what was added. */
  async finish(): Promise<{ records: readonly ActionRecord[]; bytes: number; growth: number }> {
    const connection = await connectionOf(this.tx)
    const idle = await connection.executeLast(this.#queries(), this.#last.length > 0)
    if (this.#queueing && !idle.has(this.#queueing)) this.queues.add('webhooks')
    return { records: this.#records, bytes: this.#bytes, growth: this.#growth }
  }

  async *#queries(): AsyncGenerator<CompiledQuery> {
    const logged = this.#records.filter(belongsInLog)
    const rows = logged.map(toRow)
    for (const { detail } of rows) this.spend(rowBytes + detail.length)
    if (rows.length > 0) yield prepared.insert(this.tx, 'audit', rows)
    const linked = logged.filter(({ objects }) => objects.length > 0)
    for (const { objects } of linked) this.spend(objects.length * objectBytes)
    if (linked.length > 0) yield insertObjects(this.tx, linked)
    const events = rows.filter(({ owner_id, action }) => owner_id !== null && isEventName(action))
    if (events.length > 0) {
      this.#queueing = queueRecords(
        this.tx,
        events.map(({ id }) => id),
      )
      yield this.#queueing
    }
    for (const statements of this.#last) yield* statements
  }
}

const belongsInLog = ({ action, actor }: ActionRecord): boolean => isLogged(action, actor.kind)

async function isStored(db: Kysely<Tables>, records: readonly ActionRecord[]): Promise<boolean> {
  const record = records.find(belongsInLog)
  if (!record) return false
  const row = await db.selectFrom('audit').select('id').where('id', '=', record.id).executeTakeFirst()
  return row !== undefined
}

/** A row of the audit log and its place in the indexes, without the detail. */
const rowBytes = 400

/** A license, and its places in the indexes. */
const licenseBytes = 400

/** An object of a record and its place in the index. */
const objectBytes = 100

type LastStatements = Iterable<CompiledQuery> | AsyncIterable<CompiledQuery>

const toRow = (record: ActionRecord) => ({
  id: record.id,
  owner_id: record.ownerId,
  ...toAuditColumns(record.actor),
  action: record.action,
  target_id: record.targetId,
  app_id: record.appId,
  detail: toStoredDetail(record.detail),
  created_at: record.at,
})

export type RecordConsumer = (records: readonly ActionRecord[]) => void
export type ProgramConsumer = (records: readonly ActionRecord[], actor: ProgramActor) => void

/** What is written because of an action, in the transaction that records it. */
export type Follows = Partial<
  Record<ActionName, (write: WriteTransaction, record: ActionRecord) => Promise<void>>
>

/** The database, and a transaction that records what its actor does. */
export interface Transactions {
  /** For reads outside a transaction; writes use `tx`. */
  db: Kysely<Tables>
  tx: <T>(
    actor: Actor,
    work: (write: WriteTransaction) => Promise<T>,
    options?: TransactionOptions,
  ) => Promise<T>
}

/** Receives the records of a committed transaction, how many bytes it added for long, and how many of licenses beside them. */
type Publish = (records: readonly ActionRecord[], bytes: number, growth: number) => void
type WaitToGrow = (part: number) => number

/** Who writes when, and what follows. */
interface RecordedBy {
  actor: Actor
  now: number
  publish: Publish
  follow?: Follows
  /** Without it, nothing waits. */
  waitToGrow?: WaitToGrow
  /** Called after the commit for each queue that got rows. */
  wake?: (queue: QueueName) => void
}

/** Runs a write from the command line; running servers see it with their next read. */
export const transactAsOperator = <T>(
  db: Kysely<Tables>,
  { ownerId, now }: { ownerId: string | null; now: number },
  work: (write: WriteTransaction) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> =>
  transactRecorded(db, { actor: { kind: 'operator', ownerId }, now, publish: () => {} }, work, options)

/**
 * Runs `work` in one transaction, stores its records, and publishes them after the commit. A repeat with an
 * Idempotency-Key gets the stored result of the first one instead, which must therefore be JSON and contain all that the
 * answer needs.
 */
export async function transactRecorded<T>(
  db: Kysely<Tables>,
  { actor, now, publish, follow = {}, waitToGrow, wake }: RecordedBy,
  work: (write: WriteTransaction) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  const steps = options?.isStep === false ? undefined : stepsOf(actor)
  const step = steps?.next()
  if (step?.stored) return step.stored.result as T
  const run = async (tx: Tx) => {
    const write = new WriteTransaction(tx, actor, now, waitToGrow)
    const result = await work(write)
    for (const record of write.records) {
      const next = follow[record.action]
      if (next) await next(write, record)
    }
    await step?.store(write, result)
    return { result, queues: write.queues, ...(await write.finish()) }
  }
  const { result, records, bytes, growth, queues } = await transact(db, run, options, ({ records }) =>
    isStored(db, records),
  )
  step?.committed()
  // Some transactions store much and record nothing.
  if (records.length > 0 || bytes > 0) publish(records, bytes, growth)
  for (const queue of queues) wake?.(queue)
  return result
}
