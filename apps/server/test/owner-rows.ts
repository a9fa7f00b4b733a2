import type { Insertable } from 'kysely'
import type { Db, Tables } from '../src/db/tables.ts'

type Owner = Omit<Insertable<Tables['owners']>, 'account_id'>

/** Inserts vendor accounts and, under the same ids, the people who own them. */
export async function insertOwners(db: Db, owners: (Owner & { email: string })[]): Promise<void> {
  const people = owners.map(({ id, name, email, created_at }) => ({
    ...{ id, name, email, created_at },
    email_normalized: email,
    password_hash: 'x',
    last_owner_id: null,
  }))
  await db.insertInto('accounts').values(people).execute()
  const vendors = owners.map(({ email: _, ...owner }) => ({ ...owner, account_id: owner.id }))
  await db.insertInto('owners').values(vendors).execute()
}
