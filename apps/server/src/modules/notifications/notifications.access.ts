import type { Permission } from '@keyward/contract'
import { type Access, accessOf } from '../../core/actor.ts'
import type { Db } from '../../db/index.ts'
import { columnOf, type Kind, permissionOf } from './notifications.rules.ts'

/** A person who gets a mail about a vendor account, with what the person may read there at this moment. */
export interface Recipient {
  accountId: string
  ownerId: string
  email: string
  vendorName: string
  access: Access
  may(permission: Permission): boolean
}

/**
 * The person, if it wants this kind of mail about the vendor and may read what it is about. No one gets a mail that it cannot
 * turn off. An address that was not confirmed may be that of another person, so it gets no mail that repeats what people named.
 */
export async function recipientOf(
  db: Db,
  { ownerId, accountId }: { ownerId: string; accountId: string },
  kind: Kind,
): Promise<Recipient | undefined> {
  const row = await db
    .selectFrom('accounts as a')
    .innerJoin('owners as o', (join) => join.on('o.id', '=', ownerId))
    .leftJoin('members as m', (join) =>
      join.onRef('m.account_id', '=', 'a.id').onRef('m.owner_id', '=', 'o.id'),
    )
    .leftJoin('notification_settings as s', (join) =>
      join.onRef('s.account_id', '=', 'a.id').onRef('s.owner_id', '=', 'o.id'),
    )
    .leftJoin('second_factors as f', 'f.account_id', 'a.id')
    .select([
      'a.email',
      'a.email_normalized',
      'a.confirmed_email',
      'o.name',
      'o.account_id',
      'o.require_second_factor',
    ])
    .select(['m.role', 'm.permissions', 'm.apps', 'f.active', `s.${columnOf[kind]} as wanted`])
    .where('a.id', '=', accountId)
    .executeTakeFirst()
  const isConfirmed = row?.confirmed_email === row?.email_normalized
  if (!row || !isConfirmed) return undefined
  const isWanted = row.wanted === null ? kind === 'webhookFailing' : row.wanted === 1
  const isOwner = row.account_id === accountId
  const { role, permissions, apps } = row
  const access = accessOf(isOwner, role === null ? undefined : { role, permissions, apps })
  const lacksFactor = !isOwner && row.require_second_factor === 1 && row.active !== 1
  if (!isWanted || !access || lacksFactor) return undefined
  const may = (permission: Permission) => access.permissions.has(permission)
  if (!may('settings:write') || !may(permissionOf[kind])) return undefined
  return { accountId, ownerId, email: row.email, vendorName: row.name, access, may }
}
