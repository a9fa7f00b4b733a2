import { limits } from '@keyward/contract'
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { day } from '../core/clock.ts'
import { sha256 } from '../core/crypto.ts'
import { syntaxOf } from './engine.ts'
import { putMeta } from './meta.ts'
import { prepared } from './statements.ts'
import type { Db, Tx } from './tables.ts'

/** Shorter parts are stored as they are: a count and a digest would not be shorter. */
const shortBytes = 64

/**
 * The detail of a record as the audit log stores it: JSON of at most `limits.recordDetailBytes` bytes. Where it would be
 * longer, long lists and texts become a count and a digest, then whole objects do, the deepest ones first.
 */
export function toStoredDetail(detail: unknown): string {
  let text = JSON.stringify(detail)
  for (let depth = 3; depth >= 0 && !isAtMost(text, limits.recordDetailBytes); depth -= 1) {
    text = JSON.stringify(shorten(detail, depth))
  }
  return text
}

/** Keeps objects down to a depth, and of everything else only what is short. */
function shorten(value: unknown, depth: number): unknown {
  if (depth > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return Object.fromEntries(members.map(([name, member]) => [name, shorten(member, depth - 1)]))
  }
  const text = JSON.stringify(value)
  return isAtMost(text, shortBytes) ? value : { count: sizeOf(value), digest: sha256(text).slice(0, 32) }
}

/** The number of a list's entries, an object's members or a text's characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return [...value].length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
}

const isAtMost = (text: string, bytes: number): boolean =>
  text.length <= bytes && (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes)

// ADR 71: on the embedded database a change of 200 objects would write 200 pages of the index, so it stores a list, and
// housekeeping adds many lists to the index at once.

const markName = 'record_objects'

const isListed = (db: Db): boolean => syntaxOf(db).searchIndex === 'full text'

/** Links records of this transaction to objects. */
export function insertObjects(
  tx: Tx,
  records: readonly { id: string; objects: readonly string[] }[],
): CompiledQuery {
  const [only] = records
  if (only && records.length === 1 && !isListed(tx))
    return insertOne.with(tx, { id: only.id, objects: JSON.stringify([...new Set(only.objects)]) })
  const byId = Object.fromEntries(records.map(({ id, objects }) => [id, [...new Set(objects)]]))
  return (isListed(tx) ? insertLists : insertEach).with(tx, { objects: JSON.stringify(byId) })
}

const insertLists = prepared((db, values: { objects: string }) =>
  db
    .insertInto('audit_lists')
    .columns(['seq', 'objects'])
    .expression((eb) =>
      eb
        .selectFrom([sql<{ key: string; value: string }>`json_each(${values.objects})`.as('o'), 'audit as a'])
        .select(['a.seq', 'o.value'])
        .whereRef('a.id', '=', 'o.key'),
    ),
)

/** PostgreSQL finds one id by the index also while it has no statistics. */
const insertOne = prepared((db, values: { id: string; objects: string }) =>
  db
    .insertInto('audit_objects')
    .columns(['seq', 'object_id'])
    .expression((eb) =>
      eb
        .selectFrom([
          'audit as a',
          sql<{ value: string }>`json_array_elements_text(${values.objects}::json)`.as('o'),
        ])
        .select(['a.seq', 'o.value'])
        .where('a.id', '=', values.id),
    ),
)

// PostgreSQL expects thousands of rows of two lists, and would read the whole log for a join with them.
const insertEach = prepared((db, values: { objects: string }) =>
  db
    .insertInto('audit_objects')
    .columns(['seq', 'object_id'])
    .expression((eb) =>
      eb
        .selectFrom([
          sql<{ key: string; value: unknown }>`json_each(${values.objects}::json)`.as('r'),
          sql<{ value: string }>`json_array_elements_text(r.value)`.as('o'),
        ])
        .select([sql<number>`(select a.seq from audit a where a.id = r.key)`.as('seq'), 'o.value']),
    ),
)

/** The number of the last record whose objects are in the index; undefined if all are. */
export async function lastLinkedRecord(db: Db): Promise<number | undefined> {
  if (!isListed(db)) return undefined
  const row = await db.selectFrom('meta').select('value').where('name', '=', markName).executeTakeFirst()
  return Number(row?.value ?? 0)
}

/** Adds the next lists, with about `count` objects, to the index, and returns with how many. */
export async function linkObjects(tx: Tx, count: number): Promise<number> {
  const last = await lastLinkedRecord(tx)
  if (last === undefined) return 0
  const lists = await tx
    .selectFrom('audit_lists')
    .select(['seq', sql<number>`json_array_length(objects)`.as('objects')])
    .where('seq', '>', last)
    .orderBy('seq')
    .limit(count)
    .execute()
  let [found, until] = [0, last]
  for (const { seq, objects } of lists) {
    if (found >= count) break
    found += objects
    until = seq
  }
  if (until === last) return 0
  await sql`insert into audit_objects (object_id, seq) select o.value, l.seq from audit_lists l, json_each(l.objects) o
    where l.seq > ${last} and l.seq <= ${until} order by o.value`.execute(tx)
  await putMeta(tx, markName, String(until))
  return found
}

/**
 * Queues records of the audit log for the vendor's webhooks that want them, in their own transaction. Events of no app go to
 * webhooks of all apps. An event without a target is in order with those of its app.
 */
export const queueRecords = (db: Db, ids: readonly string[]): CompiledQuery =>
  ids.length === 1 && ids[0] !== undefined
    ? queueOne.with(db, { id: ids[0] })
    : queueMany.with(db, { ids: JSON.stringify(ids) })

const queueing = (db: Db, isQueued: RawBuilder<boolean>, isSorted: boolean) =>
  db
    .insertInto('webhook_deliveries')
    .columns([
      'webhook_id',
      'owner_id',
      'event_id',
      'event',
      'subject',
      'target_id',
      'app_id',
      'actor_kind',
      'actor_id',
      'detail',
      'happened_at',
      'due_at',
      'expires_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom('audit as a')
        .innerJoin('webhooks as w', 'w.owner_id', 'a.owner_id')
        .select(['w.id', 'w.owner_id', 'a.id as event_id', 'a.action'])
        .select(sql<string>`coalesce(a.target_id, a.app_id, a.owner_id)`.as('subject'))
        .select(['a.target_id', 'a.app_id', 'a.actor_kind', 'a.actor_id', 'a.detail'])
        .select(['a.created_at', 'a.created_at as due_at'])
        .select(sql<number>`a.created_at + ${sql.lit(limits.deliveryDays * day)}`.as('expires_at'))
        .where(isQueued)
        .where('w.deleted_at', 'is', null)
        .where('w.active', '=', sql.lit(1))
        .where(wants(sql.ref('a.action')))
        .where((on) => on.or([on('w.apps', 'is', null), names(sql.ref('w.apps'), sql.ref('a.app_id'))]))
        .$if(isSorted, (rows) => rows.orderBy('a.seq')),
    )

// PostgreSQL does not prepare a statement that sorts, and most transactions have one record. It plans one id by the index also
// while it has no statistics; of a list it expects many, and would read the whole log.
const queueOne = prepared((db, values: { id: string }) =>
  queueing(db, sql<boolean>`a.id = ${values.id}`, false),
)
const queueMany = prepared((db, values: { ids: string }) =>
  queueing(db, syntaxOf(db).isAmong('a.id', values.ids, 'text'), true),
)

/** Whether a webhook `w` has chosen an event. */
export const wants = (event: unknown) =>
  sql<boolean>`(w.events = ${'["*"]'} or ${names(sql.ref('w.events'), event)})`

/** Whether a list in JSON has a text. PostgreSQL would plan each execution of a `like`. */
const names = (list: RawBuilder<unknown>, text: unknown) =>
  sql<boolean>`replace(${list}, '"' || ${text} || '"', '') <> ${list}`
