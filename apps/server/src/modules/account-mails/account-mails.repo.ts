import { day } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Db, lock, type Tx } from '../../db/index.ts'
import type { Holder } from '../sessions/sessions.service.ts'

const knownForMs = 90 * day
const knownPerHolder = 50

/** What a sign-in was made with. */
export interface Device {
  /** The network that the address belongs to. */
  network: string
  agent: string
}

/** The address of a person or a reseller, and whether new sign-ins are mailed to it; locks the row. Undefined if it was deleted. */
export async function lockHolder(
  tx: Tx,
  { kind, id }: Holder,
): Promise<{ email: string; wantsSignIns: boolean } | undefined> {
  if (kind === 'reseller') {
    const resellers = tx.selectFrom('resellers').select('email').where('id', '=', id)
    const row = await lock(tx, resellers).executeTakeFirst()
    return row && { email: row.email, wantsSignIns: true }
  }
  const accounts = tx.selectFrom('accounts').select(['email', 'new_sign_in_mail']).where('id', '=', id)
  const row = await lock(tx, accounts).executeTakeFirst()
  return row && { email: row.email, wantsSignIns: row.new_sign_in_mail === 1 }
}

export async function findAgent(db: Db, { kind }: Holder, sessionId: string): Promise<string | null> {
  const row = await db
    .selectFrom(kind === 'account' ? 'owner_sessions' : 'reseller_sessions')
    .select('agent')
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return row?.agent ?? null
}

/**
 * Remembers the device of a sign-in. Returns whether it is new: the holder has signed in before, but not lately from the same
 * network or with the same program. The holder's row is locked.
 */
export async function rememberDevice(tx: Tx, holder: Holder, device: Device, now: number): Promise<boolean> {
  const column = holder.kind === 'account' ? 'account_id' : 'reseller_id'
  const known = await tx
    .selectFrom('known_devices')
    .select(['id', 'network', 'agent', 'used_at'])
    .where(column, '=', holder.id)
    .orderBy('used_at', 'desc')
    .orderBy('id')
    .limit(knownPerHolder + 1)
    .execute()
  const same = known.find(({ network, agent }) => network === device.network && agent === device.agent)
  if (same) await tx.updateTable('known_devices').set({ used_at: now }).where('id', '=', same.id).execute()
  else {
    const row = { id: newId('dev'), account_id: null, reseller_id: null, ...device, used_at: now }
    await tx
      .insertInto('known_devices')
      .values({ ...row, [column]: holder.id })
      .execute()
  }
  const surplus = known.slice(knownPerHolder).map(({ id }) => id)
  if (surplus.length > 0) await tx.deleteFrom('known_devices').where('id', 'in', surplus).execute()
  const isKnown = known.some(
    ({ network, agent, used_at }) =>
      used_at > now - knownForMs && (network === device.network || agent === device.agent),
  )
  return known.length > 0 && !isKnown
}
