import { type PersonActor, toPersonActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import type { Db, WriteTransaction } from '../../db/index.ts'
import type { AccountRow } from '../../db/tables.ts'
import { updateAccount } from '../accounts/accounts.service.ts'
import { listVendors, noteUse, type OpenVendor } from '../members/members.access.ts'
import * as sessions from '../sessions/sessions.service.ts'

/** A person at a vendor account, as the actor of a new session. */
export const actorAt = (
  { ownerId, access }: Omit<OpenVendor, 'name'>,
  accountId: string,
  address: string,
): PersonActor => toPersonActor(access, { accountId, ownerId, sessionId: newId('ses'), address })

/** The person as the actor of a new session at the vendor account used last; undefined if it belongs to none. */
export async function actorAtLast(
  db: Db,
  account: Pick<AccountRow, 'id' | 'last_owner_id'>,
  address: string,
): Promise<PersonActor | undefined> {
  const vendors = await listVendors(db, account.id)
  const vendor = vendors.find(({ ownerId }) => ownerId === account.last_owner_id) ?? vendors[0]
  return vendor && actorAt(vendor, account.id, address)
}

/** A person as the holder of its sessions. */
export const holderOf = ({ actorId, ownerId }: Pick<PersonActor, 'actorId' | 'ownerId'>) =>
  ({ kind: 'account', id: actorId, ownerId }) as const

/** Opens the actor's session and returns its token; from now on the person signs in to this vendor account. */
export async function openSession(
  write: WriteTransaction,
  actor: PersonActor,
  sessionId = actor.sessionId,
): Promise<string> {
  const { tx, now } = write
  await updateAccount(tx, actor.actorId, { last_owner_id: actor.ownerId })
  if (!actor.isOwner) await noteUse(tx, { ownerId: actor.ownerId, accountId: actor.actorId }, now)
  return sessions.openSession(write, holderOf(actor), sessionId)
}
