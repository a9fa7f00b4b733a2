import type { Vendor } from '@keyward/contract'
import { type PersonActor, toPersonActor } from '../../core/actor.ts'
import { hour } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Db, Tx, WriteTransaction } from '../../db/index.ts'
import type { AccountRow } from '../../db/tables.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockAccount, updateAccount } from '../accounts/accounts.service.ts'
import { deleteMembership, listVendors, noteUse, type OpenVendor } from '../members/members.access.ts'
import * as sessions from '../sessions/sessions.service.ts'

/** Each one stores a record, and nothing else bounds how often a person changes between vendor accounts. */
const switches: Allowance = { name: 'vendor switch', max: 300, windowMs: hour }

/** A person at a vendor account, as the actor of a new session. */
export const actorAt = (
  { ownerId, access }: Pick<OpenVendor, 'ownerId' | 'access'>,
  accountId: string,
  address: string,
): PersonActor => toPersonActor(access, { accountId, ownerId, sessionId: newId('ses'), address })

/** The vendor account that a person used last and still belongs to; undefined if it belongs to none. */
export const findLastVendor = async (db: Db, account: LastUsed): Promise<OpenVendor | undefined> =>
  lastOf(account, await listVendors(db, account.id))

type LastUsed = Pick<AccountRow, 'id' | 'last_owner_id'>

const lastOf = (account: LastUsed, vendors: readonly OpenVendor[]): OpenVendor | undefined =>
  vendors.find(({ ownerId }) => ownerId === account.last_owner_id) ?? vendors[0]

/**
 * The person as the actor of a new session at the vendor account used last; undefined if it belongs to none. One that the operator
 * has disabled is left out, and refuses who has no other.
 */
export async function actorAtLast(
  db: Db,
  account: LastUsed,
  address: string,
): Promise<PersonActor | undefined> {
  const vendors = await listVendors(db, account.id)
  const vendor = lastOf(
    account,
    vendors.filter(({ isDisabled }) => !isDisabled),
  )
  if (!vendor && vendors.length > 0) throw problem('vendor_disabled')
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
  confirmedAt?: number,
): Promise<string> {
  const { tx, now } = write
  await updateAccount(tx, actor.actorId, { last_owner_id: actor.ownerId })
  if (!actor.isOwner) await noteUse(tx, { ownerId: actor.ownerId, accountId: actor.actorId }, now)
  return sessions.openSession(write, holderOf(actor), sessionId, confirmedAt)
}

export async function readVendors({ db }: Pick<Ctx, 'db'>, actor: PersonActor): Promise<Vendor[]> {
  const vendors = await listVendors(db, actor.actorId)
  return vendors.map(({ ownerId, name, access }) => ({
    _id: ownerId,
    name,
    role: access.role,
    current: ownerId === actor.ownerId,
  }))
}

async function getVendor({ db }: Pick<Ctx, 'db'>, actor: PersonActor, id: string): Promise<OpenVendor> {
  const vendor = (await listVendors(db, actor.actorId)).find(({ ownerId }) => ownerId === id)
  if (!vendor) throw problem('not_found')
  return vendor
}

/** Returns a token for another vendor account. It proves nothing again, so the session is as old as that of the actor. */
export async function openVendor(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  id: string,
): Promise<string> {
  const vendor = await getVendor(ctx, actor, id)
  if (vendor.isDisabled) throw problem('vendor_disabled')
  const next = actorAt(vendor, actor.actorId, actor.address)
  await attempts.count(switches, actor.actorId)
  return ctx.tx(next, async (write) => {
    const token = await openSession(write, next)
    if (!(await sessions.continueSession(write, actor.sessionId, next.sessionId)))
      throw problem('unauthorized')
    write.record('owner.signed_in', actor.actorId, {})
    return token
  })
}

/** Leaves a team. The last vendor account cannot be left: its person could no longer sign in. */
export async function leaveVendor(ctx: Ctx, actor: PersonActor, id: string): Promise<void> {
  const vendor = await getVendor(ctx, actor, id)
  if (vendor.access.role === 'owner') throw problem('vendor_owned')
  const left = await leaveTeam(ctx, actor, vendor, async (tx) => {
    await lockAccount(tx, actor.actorId)
    if ((await listVendors(tx, actor.actorId)).length < 2) throw problem('last_vendor')
  })
  if (!left) throw problem('not_found')
}

/** Ends a membership and the sessions there; false if the person is no member any more. */
export async function leaveTeam(
  ctx: Ctx,
  { actorId, sessionId, address }: PersonActor,
  { ownerId, access }: OpenVendor,
  check: (tx: Tx) => Promise<void> = async () => {},
): Promise<boolean> {
  const leaving = toPersonActor(access, { accountId: actorId, ownerId, sessionId, address })
  return ctx.tx(leaving, async (write) => {
    const { tx } = write
    await check(tx)
    const id = await deleteMembership(tx, { ownerId, accountId: actorId })
    if (id === undefined) return false
    await sessions.endSessionsAt(tx, leaving, actorId)
    write.record('member.left', id, { account: actorId })
    return true
  })
}
