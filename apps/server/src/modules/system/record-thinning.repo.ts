import { sql } from 'kysely'
import type { Db, Tx } from '../../db/index.ts'
import { putMeta } from '../../db/meta.ts'

// Housekeeping concerns the records of all owners.

export const pageRows = 500
const ownersAtOnce = 1000
const passName = 'record_thinning'

/** A walk over the records of all owners between two times; within an owner, the newest first. */
export interface Pass {
  from: number
  until: number
  owner: string
  /** The last record read; null at the beginning of an owner. */
  at: number | null
  id: string
}

/** Until when records are thinned, and where the next run continues. */
interface StoredPass {
  until: number
  next: Pass | null
}

export const beginOf = (owner: string): Pick<Pass, 'owner' | 'at' | 'id'> => ({ owner, at: null, id: '' })

export async function findPass(db: Db): Promise<StoredPass | undefined> {
  const row = await db.selectFrom('meta').select('value').where('name', '=', passName).executeTakeFirst()
  return row && JSON.parse(row.value)
}

export async function storePass(tx: Tx, pass: StoredPass): Promise<void> {
  await putMeta(tx, passName, JSON.stringify(pass))
}

export interface RecordRow {
  id: string
  action: string
  target_id: string | null
  actor_id: string
  address: string | null
  created_at: number
}

export const listBefore = (db: Db, { from, until, owner, at, id }: Pass): Promise<RecordRow[]> =>
  db
    .selectFrom('audit')
    .select(['id', 'action', 'target_id', 'actor_id', 'address', 'created_at'])
    .where('owner_id', '=', owner)
    .where('created_at', '>=', from)
    .where('created_at', at === null ? '<' : '<=', at ?? until)
    .$if(at !== null, (query) =>
      query.where((eb) => eb.or([eb('created_at', '<', at ?? until), eb('id', '<', id)])),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(pageRows)
    .execute()

/** The next owner with records in that time, or one further on; undefined after the last one. */
export async function findNextOwner(db: Db, { from, until, owner }: Pass): Promise<string | undefined> {
  const { rows } = await sql<{ id: string; has: number | boolean }>`
    select o.id, exists (
      select 1 from audit a where a.owner_id = o.id and a.created_at >= ${from} and a.created_at < ${until}
    ) as has
    from (select id from owners where id > ${owner} order by id limit ${ownersAtOnce}) o order by o.id`.execute(
    db,
  )
  return (rows.find(({ has }) => Boolean(has)) ?? rows.at(-1))?.id
}
