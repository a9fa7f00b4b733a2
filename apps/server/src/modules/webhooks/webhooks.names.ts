import type { Permission } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { appInScope, type Db, inScope } from '../../db/index.ts'

type ReadName = (db: Db, maker: VendorActor, id: string) => Promise<{ name: string } | undefined>

/** Who acts, or has no object that names it, by what its id begins with; and the permission that reading its name needs. */
const readers: Readonly<Record<string, [Permission, ReadName]>> = {
  // People have no owner: their ids come from records of the maker's own vendor.
  acc: [
    'audit:read',
    (db, _maker, id) => db.selectFrom('accounts').select('name').where('id', '=', id).executeTakeFirst(),
  ],
  key: [
    'audit:read',
    (db, { ownerId }, id) =>
      db
        .selectFrom('api_keys')
        .select('name')
        .where('id', '=', id)
        .where('owner_id', '=', ownerId)
        .executeTakeFirst(),
  ],
  app: [
    'apps:read',
    (db, maker, id) =>
      db.selectFrom('apps').select('name').where('id', '=', id).where(appInScope(maker)).executeTakeFirst(),
  ],
  res: [
    'resellers:read',
    (db, maker, id) =>
      db
        .selectFrom('resellers')
        .select('email as name')
        .where('id', '=', id)
        .where(inScope(maker))
        .executeTakeFirst(),
  ],
}

/** The name of a person, API key, app or reseller; null if it is gone, has none, or the maker of the webhook may not read it. */
export async function readName(db: Db, maker: VendorActor, id: string): Promise<string | null> {
  const [permission, read] = readers[prefixOf(id)] ?? []
  if (!permission || !read || !maker.permissions.has(permission)) return null
  return (await read(db, maker, id))?.name || null
}

export const prefixOf = (id: string): string => id.slice(0, id.indexOf('_'))
