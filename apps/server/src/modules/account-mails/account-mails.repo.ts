import { day } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { lock, prepared, type Tx } from '../../db/index.ts'
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

interface KnownDevice extends Device {
  id: string
  used_at: number
}

const columnOf = ({ kind }: Holder) => (kind === 'account' ? 'account_id' : 'reseller_id')

/** The devices that a holder signed in with lately, and one more than are kept. */
export const listDevices = (tx: Tx, holder: Holder): Promise<KnownDevice[]> =>
  tx
    .selectFrom('known_devices')
    .select(['id', 'network', 'agent', 'used_at'])
    .where(columnOf(holder), '=', holder.id)
    .orderBy('used_at', 'desc')
    .orderBy('id')
    .limit(knownPerHolder + 1)
    .execute()

export const isSame = (one: Device, other: Device): boolean =>
  one.network === other.network && one.agent === other.agent

/** Whether a sign-in is the first one of a holder that has signed in before from this network or with this program. */
export const isNew = (known: readonly KnownDevice[], { network, agent }: Device, now: number): boolean =>
  known.length > 0 &&
  !known.some((one) => one.used_at > now - knownForMs && (one.network === network || one.agent === agent))

/** Remembers the device of a sign-in, and forgets those beyond the number that is kept. */
export async function rememberDevice(
  tx: Tx,
  holder: Holder,
  device: Device,
  known: readonly KnownDevice[],
  now: number,
): Promise<void> {
  const same = known.find((one) => isSame(one, device))
  if (same) return prepared.update(tx, 'known_devices', { used_at: now }, { id: same.id }).later()
  const of = { account_id: null, reseller_id: null, [columnOf(holder)]: holder.id }
  await prepared.insert(tx, 'known_devices', [{ id: newId('dev'), ...of, ...device, used_at: now }]).later()
  const surplus = known.slice(knownPerHolder).map(({ id }) => id)
  if (surplus.length > 0) await tx.deleteFrom('known_devices').where('id', 'in', surplus).execute()
}
