import { type CompiledQuery, sql } from 'kysely'
import { syntaxOf } from './engine.ts'
import { putMeta } from './meta.ts'
import { prepared } from './statements.ts'
import type { Db, Tx } from './tables.ts'

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

const insertEach = prepared((db, values: { objects: string }) =>
  db
    .insertInto('audit_objects')
    .columns(['seq', 'object_id'])
    .expression((eb) =>
      eb
        .selectFrom([
          sql<{ key: string; value: unknown }>`json_each(${values.objects}::json)`.as('r'),
          sql<{ value: string }>`json_array_elements_text(r.value)`.as('o'),
          'audit as a',
        ])
        .select(['a.seq', 'o.value'])
        .whereRef('a.id', '=', 'r.key'),
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
