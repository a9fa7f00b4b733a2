import { limits } from '@keyward/contract'
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { day } from '../core/clock.ts'
import { syntaxOf } from './engine.ts'
import { prepared } from './statements.ts'
import type { Db } from './tables.ts'

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
