import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { OfOwner } from '../../core/actor.ts'
import { type Db, lock, type Tx } from '../../db/index.ts'
import type { Flag } from '../../db/tables/flag.ts'
import type { MemberRow } from '../../db/tables.ts'

/** A membership with the name and the address of its person; an invitation has only the invited address. */
export type MemberView = MemberRow & {
  name: string | null
  account_email: string | null
  has_factor: Flag | null
}

const views = (db: Db, { ownerId }: OfOwner) =>
  db
    .selectFrom('members')
    .leftJoin('accounts', 'accounts.id', 'members.account_id')
    .leftJoin('second_factors', 'second_factors.account_id', 'members.account_id')
    .selectAll('members')
    .select(['accounts.name', 'accounts.email as account_email', 'second_factors.active as has_factor'])
    .where('members.owner_id', '=', ownerId)

export const listMembers = (db: Db, scope: OfOwner): Promise<MemberView[]> =>
  views(db, scope).orderBy('members.created_at').orderBy('members.id').limit(limits.membersMax).execute()

export const findMember = (db: Db, scope: OfOwner, id: string): Promise<MemberView | undefined> =>
  views(db, scope).where('members.id', '=', id).executeTakeFirst()

/** When people last used their open sessions at a vendor account. */
export const listLastUses = (db: Db, { ownerId }: OfOwner): Promise<{ account_id: string; at: number }[]> =>
  db
    .selectFrom('owner_sessions')
    .select((eb) => ['account_id', eb.fn.max('last_used_at').as('at')])
    .where('owner_id', '=', ownerId)
    .groupBy('account_id')
    .execute()

/** Reads a membership and locks the row until the transaction ends. */
export const lockMember = (tx: Tx, { ownerId }: OfOwner, id: string): Promise<MemberRow | undefined> =>
  lock(
    tx,
    tx.selectFrom('members').selectAll().where('id', '=', id).where('owner_id', '=', ownerId),
  ).executeTakeFirst()

/** Whether the person with this address owns the vendor account or is a member. */
export async function isInTeam(tx: Tx, { ownerId }: OfOwner, emailNormalized: string): Promise<boolean> {
  const found = await tx
    .selectFrom('accounts')
    .select('id')
    .where('email_normalized', '=', emailNormalized)
    .where(({ or, exists, selectFrom }) => {
      const membership = selectFrom('members')
        .select('members.id')
        .where('members.owner_id', '=', ownerId)
        .whereRef('members.account_id', '=', 'accounts.id')
      const ownership = selectFrom('owners')
        .select('owners.id')
        .where('owners.id', '=', ownerId)
        .whereRef('owners.account_id', '=', 'accounts.id')
      return or([exists(membership), exists(ownership)])
    })
    .executeTakeFirst()
  return found !== undefined
}

export type Invited = Pick<
  MemberRow,
  'email' | 'role' | 'permissions' | 'apps' | 'token_hash' | 'token_expires_at'
>

/** Replaces the open invitation of an address; undefined if there is none. */
export async function replaceInvitation(
  tx: Tx,
  { ownerId }: OfOwner,
  emailNormalized: string,
  invited: Invited,
): Promise<string | undefined> {
  const replaced = await tx
    .updateTable('members')
    .set(invited)
    .where('owner_id', '=', ownerId)
    .where('email_normalized', '=', emailNormalized)
    .returning('id')
    .executeTakeFirst()
  return replaced?.id
}

/** Adds an invitation; false if the team is full. The caller has locked the owner. */
export async function insertInvitation(
  tx: Tx,
  { ownerId }: OfOwner,
  row: Invited & Pick<MemberRow, 'id' | 'email_normalized' | 'created_at'>,
): Promise<boolean> {
  const { rows } = await sql`
    insert into members (id, owner_id, email, email_normalized, role, permissions, apps, token_hash, token_expires_at, created_at)
    select ${row.id}, ${ownerId}, ${row.email}, ${row.email_normalized}, ${row.role}, ${row.permissions}, ${row.apps}, ${row.token_hash},
      ${row.token_expires_at}, ${row.created_at}
    where (select count(*) from members where owner_id = ${ownerId}) < ${limits.membersMax}
    returning id`.execute(tx)
  return rows.length > 0
}

/** Adds a person as a member with all apps, in the place of another one. */
export async function insertMember(
  tx: Tx,
  { ownerId }: OfOwner,
  row: Pick<MemberRow, 'id' | 'account_id' | 'role' | 'created_at'>,
): Promise<void> {
  const accepted = { email: null, email_normalized: null, token_hash: null, token_expires_at: null }
  await tx
    .insertInto('members')
    .values({ ...row, ...accepted, owner_id: ownerId, apps: null })
    .execute()
}

export async function updateMember(
  tx: Tx,
  { ownerId }: OfOwner,
  id: string,
  change: Pick<MemberRow, 'role' | 'permissions' | 'apps'>,
): Promise<void> {
  await tx.updateTable('members').set(change).where('id', '=', id).where('owner_id', '=', ownerId).execute()
}

export async function deleteMember(tx: Tx, { ownerId }: OfOwner, id: string): Promise<void> {
  await tx.deleteFrom('members').where('id', '=', id).where('owner_id', '=', ownerId).execute()
}

/** Withdraws all open invitations of a vendor, and returns them. */
export const deleteInvitations = (tx: Tx, { ownerId }: OfOwner): Promise<Pick<MemberRow, 'id' | 'email'>[]> =>
  tx
    .deleteFrom('members')
    .where('owner_id', '=', ownerId)
    .where('account_id', 'is', null)
    .returning(['id', 'email'])
    .execute()
