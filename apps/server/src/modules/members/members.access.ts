import { type Access, accessOf, type OfOwner } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { type Db, lock, type Tx } from '../../db/index.ts'

/** A vendor account that a person may open. */
export interface OpenVendor {
  ownerId: string
  name: string
  access: Access
  /** The operator has disabled it. */
  isDisabled: boolean
}

/** The vendor accounts of a person: its own first, then those of its memberships by name. */
export async function listVendors(db: Db, accountId: string): Promise<OpenVendor[]> {
  const own = await db
    .selectFrom('owners')
    .select(['id', 'name', 'disabled_at'])
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  const memberships = await db
    .selectFrom('members')
    .innerJoin('owners', 'owners.id', 'members.owner_id')
    .select(['owners.id', 'owners.name', 'owners.disabled_at', 'members.role'])
    .select(['members.permissions', 'members.apps'])
    .where('members.account_id', '=', accountId)
    .orderBy('owners.name')
    .orderBy('owners.id')
    .execute()
  const all = [
    ...(own ? [{ ...own, member: undefined }] : []),
    ...memberships.map((row) => ({ ...row, member: row })),
  ]
  return all.flatMap(({ id, name, disabled_at, member }) => {
    const access = accessOf(member === undefined, member)
    return access ? [{ ownerId: id, name, access, isDisabled: disabled_at !== null }] : []
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

/** An open invitation, found by its secret, which takes the place of a scope. */
export async function findInvitation(
  db: Db,
  tokenHash: string,
  now: number,
): Promise<Invitation | undefined> {
  const row = await db
    .selectFrom('members as m')
    .innerJoin('owners as o', 'o.id', 'm.owner_id')
    .select(['m.id', 'm.owner_id', 'm.email', 'm.email_normalized', 'm.role', 'm.permissions', 'm.apps'])
    .select('o.disabled_at')
    .where('m.token_hash', '=', tokenHash)
    .where('m.token_expires_at', '>', now)
    .executeTakeFirst()
  if (row && row.disabled_at !== null) throw problem('vendor_disabled')
  if (!row || row.email === null || row.email_normalized === null) return undefined
  const access = accessOf(false, row)
  const { id, owner_id: ownerId, email, email_normalized: emailNormalized } = row
  return access && { id, ownerId, email, emailNormalized, access, tokenHash }
}

export interface Invitation {
  id: string
  ownerId: string
  email: string
  emailNormalized: string
  access: Access
  tokenHash: string
}

/** Consumes the secret of an invitation; undefined if it was used, replaced, withdrawn or expired meanwhile. */
export async function takeInvitation(
  tx: Tx,
  { id, tokenHash }: Invitation,
  now: number,
): Promise<Access | undefined> {
  const taken = await tx
    .updateTable('members')
    .set({ token_hash: null, token_expires_at: null })
    .where('id', '=', id)
    .where('token_hash', '=', tokenHash)
    .where('token_expires_at', '>', now)
    .returning(['role', 'permissions', 'apps'])
    .executeTakeFirst()
  return accessOf(false, taken)
}

/** Makes a person the member of an invitation whose secret the caller has consumed. */
export async function join(tx: Tx, { id }: Invitation, accountId: string): Promise<void> {
  await tx
    .updateTable('members')
    .set({ account_id: accountId, email: null, email_normalized: null })
    .where('id', '=', id)
    .execute()
}

/** Deletes the membership of a person at a vendor and returns its id; undefined if there is none. */
export async function deleteMembership(
  tx: Tx,
  person: { ownerId: string; accountId: string },
): Promise<string | undefined> {
  const deleted = await tx
    .deleteFrom('members')
    .where('owner_id', '=', person.ownerId)
    .where('account_id', '=', person.accountId)
    .returning('id')
    .executeTakeFirst()
  return deleted?.id
}

/** Removes an app that is deleted from the members who work on it; one who works on no other sees nothing. */
export async function removeAppFromMembers(tx: Tx, { ownerId }: OfOwner, appId: string): Promise<void> {
  const limited = await lock
    .all(
      tx,
      tx
        .selectFrom('members')
        .select(['id', 'apps'])
        .where('owner_id', '=', ownerId)
        .where('apps', 'like', `%"${appId}"%`),
    )
    .execute()
  for (const { id, apps } of limited) {
    const others = (JSON.parse(apps ?? '[]') as string[]).filter((one) => one !== appId)
    await tx
      .updateTable('members')
      .set({ apps: JSON.stringify(others) })
      .where('id', '=', id)
      .execute()
  }
}
