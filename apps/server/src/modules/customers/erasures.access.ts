import type { OfOwner, OwnerScope } from '../../core/actor.ts'
import { day, minute, second } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { formsOfEmail, normalizeEmail } from '../../core/ids.ts'
import { lock, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { ErasureRow } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

/** Shops tell of payments later: they repeat events for days, and a dispute can follow after months. */
const keptMs = 180 * day
/** A process that erases renews this; another one goes on afterwards. */
export const erasureLeaseMs = 15 * second
/** Pauses before what other servers wrote later is looked for, from the end of an erasure on. */
const sweptAfterMs = [2 * second, minute, 10 * minute]

export interface NewErasure {
  customerId: string
  /** Normalized. */
  email: string
  /** Whom it erases, and who asked for it. */
  content: string
}

export const erasureContext = (customerId: string): string => `erasures.sealed:${customerId}`

/** Without the secret key, nobody can try addresses on it. */
const hashOf = ({ digest }: Pick<Seal, 'digest'>, ownerId: string, email: string): string =>
  digest(`erasure\n${ownerId}\n${email}`)

/** Notes a part of an erasure before anything is deleted, so that another process can finish it. */
export async function noteErasure(
  { tx, now }: WriteTransaction,
  seal: Pick<Seal, 'digest' | 'seal'>,
  { ownerId }: OfOwner,
  { customerId, email, content }: NewErasure,
): Promise<void> {
  await tx
    .insertInto('erasures')
    .values({
      ...{
        owner_id: ownerId,
        customer_id: customerId,
        email_hash: hashOf(seal, ownerId, normalizeEmail(email)),
      },
      ...{ sealed: seal.seal(content, erasureContext(customerId)), begun_at: now, ended_at: null },
      ...{ due_at: now + erasureLeaseMs, expires_at: now + keptMs },
    })
    .execute()
}

export const openErasure = (seal: Pick<Seal, 'open'>, { customer_id, sealed }: ErasureRow): string =>
  seal.open(sealed ?? '', erasureContext(customer_id))

/** Ends all parts of an erasure. What they erased is looked for again soon, and later. */
export async function endErasure({ tx, now }: WriteTransaction, customerId: string): Promise<void> {
  await tx
    .updateTable('erasures')
    .set({ ended_at: now, due_at: now + (sweptAfterMs[0] ?? 0) })
    .where('customer_id', '=', customerId)
    .where('ended_at', 'is', null)
    .execute()
}

/** Keeps what runs from other processes. */
export async function renewErasure({ tx, now }: WriteTransaction, customerId: string): Promise<void> {
  await tx
    .updateTable('erasures')
    .set({ due_at: now + erasureLeaseMs })
    .where('customer_id', '=', customerId)
    .where('ended_at', 'is', null)
    .execute()
}

/** Notes that a part of an ended erasure was looked for; after the last time its content is deleted. */
export async function noteSweep({ tx, now }: WriteTransaction, { seq, sweeps }: ErasureRow): Promise<void> {
  const nextMs = sweptAfterMs[sweeps + 1]
  const next = nextMs === undefined ? { due_at: null, sealed: null } : { due_at: now + nextMs }
  await tx
    .updateTable('erasures')
    .set({ sweeps: sweeps + 1, ...next })
    .where('seq', '=', seq)
    .execute()
}

export const findDueErasure = prepared((db, values: { now: number }) =>
  db.selectFrom('erasures').select('seq').where('due_at', '<=', values.now).limit(1),
)

/** Takes the erasure that is due longest, of any vendor, unless another process is faster. */
export async function claimErasure(tx: Tx, now: number): Promise<ErasureRow | undefined> {
  const oldest = tx.selectFrom('erasures').select('seq').where('due_at', '<=', now).orderBy('due_at').limit(1)
  return tx
    .updateTable('erasures')
    .set({ due_at: now + erasureLeaseMs })
    .where('seq', '=', oldest)
    .where('due_at', '<=', now)
    .returningAll()
    .executeTakeFirst()
}

/** Whether the person of an address was erased after something happened. */
export async function wasErasedSince(
  tx: Tx,
  seal: Pick<Seal, 'digest'>,
  { ownerId }: OfOwner,
  { email, at }: { email: string; at: number },
): Promise<boolean> {
  const forms = formsOfEmail(normalizeEmail(email))
  const found = tx
    .selectFrom('erasures')
    .select('seq')
    .where('owner_id', '=', ownerId)
    // Earlier versions kept the domain as it was typed.
    .where(
      'email_hash',
      'in',
      forms.map((form) => hashOf(seal, ownerId, form)),
    )
    .where('begun_at', '>', at)
  return (await found.limit(1).executeTakeFirst()) !== undefined
}

/**
 * Waits until no transaction uses an event of the vendor's shops. Those that follow see the erasure, which the caller
 * notes in the same transaction.
 */
export async function awaitEvents(tx: Tx, { ownerId }: OwnerScope): Promise<void> {
  const shops = tx.selectFrom('shops').select('id').where('owner_id', '=', ownerId).orderBy('id')
  await lock.ahead(tx, () => lock(tx, shops))
}

/** Forgets whom erasures concern, which a lost secret key sealed. */
export async function loseKey({ tx }: LostKey): Promise<Pick<LostKeyReport, 'erasures' | 'erasedUnknown'>> {
  const rows = await tx.selectFrom('erasures').select(['customer_id', 'owner_id', 'sealed']).execute()
  await tx.updateTable('erasures').set({ sealed: null, due_at: null }).execute()
  const open = rows.filter(({ sealed }) => sealed !== null)
  return {
    erasures: open.map(({ customer_id, owner_id }) => ({ customer: customer_id, vendor: owner_id })),
    erasedUnknown: rows.length,
  }
}
