import { fillLink } from '@keyward/contract'
import type { OfOwner } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Db, Tx } from '../../db/index.ts'
import type { ProfileRow } from '../../db/tables.ts'
import type { Face } from '../mail/mail.face.ts'

// The caller has checked the vendor or the app whose profile it is.

export const findProfile = (db: Db, id: string): Promise<ProfileRow | undefined> =>
  db.selectFrom('profiles').selectAll().where('id', '=', id).executeTakeFirst()

export async function saveProfile(tx: Tx, row: ProfileRow): Promise<void> {
  const { id: _id, owner_id: _owner, app_id: _app, ...content } = row
  await tx
    .insertInto('profiles')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(content))
    .execute()
}

/** Deletes the profile of a vendor. Those of its apps go with them. */
export async function deleteProfile(tx: Tx, { ownerId }: OfOwner): Promise<void> {
  await tx.deleteFrom('profiles').where('id', '=', ownerId).execute()
}

/** What customers of an app see of its vendor, and its name: each part is the app's, else the vendor's. */
export async function findFace(db: Db, appId: string): Promise<Face & { app: string }> {
  const row = await db
    .selectFrom('apps as a')
    .leftJoin('profiles as p', 'p.id', 'a.id')
    .leftJoin('profiles as v', 'v.id', 'a.owner_id')
    .select(({ fn, ref }) => [
      fn.coalesce('p.name', 'v.name').as('name'),
      fn.coalesce('p.support', 'v.support').as('support'),
      fn.coalesce('p.logo_digest', 'v.logo_digest').as('logo'),
      ref('a.owner_id').as('ownerId'),
      ref('a.name').as('app'),
      ref('a.buy_url').as('buyUrl'),
    ])
    .where('a.id', '=', appId)
    .executeTakeFirst()
  if (!row) throw problem('not_found')
  const { logo, ownerId, buyUrl, ...others } = row
  const shop = buyUrl && fillLink(buyUrl, null)
  return { ...others, shop, logo: logo === null ? null : { ownerId, digest: logo } }
}
