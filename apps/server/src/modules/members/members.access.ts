import type { Access } from '../../core/actor.ts'
import type { Db, Tx } from '../../db/index.ts'
import { accessOf } from '../sessions/sessions.rules.ts'

/** A vendor account that a person may open. */
export interface OpenVendor {
  ownerId: string
  name: string
  access: Access
}

/** The vendor accounts of a person: its own first, then those of its memberships by name. */
export async function listVendors(db: Db, accountId: string): Promise<OpenVendor[]> {
  const own = await db
    .selectFrom('owners')
    .select(['id', 'name'])
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  const memberships = await db
    .selectFrom('members')
    .innerJoin('owners', 'owners.id', 'members.owner_id')
    .select(['owners.id', 'owners.name', 'members.role', 'members.apps'])
    .where('members.account_id', '=', accountId)
    .orderBy('owners.name')
    .orderBy('owners.id')
    .execute()
  const all = [
    ...(own ? [{ ...own, member: undefined }] : []),
    ...memberships.map((row) => ({ ...row, member: row })),
  ]
  return all.flatMap(({ id, name, member }) => {
    const access = accessOf(member === undefined, member)
    return access ? [{ ownerId: id, name, access }] : []
  })
}

/** Notes that a member has opened the vendor account. */
export async function noteUse(
  tx: Tx,
  person: { ownerId: string; accountId: string },
  now: number,
): Promise<void> {
  await tx
    .updateTable('members')
    .set({ last_used_at: now })
    .where('owner_id', '=', person.ownerId)
    .where('account_id', '=', person.accountId)
    .execute()
}
