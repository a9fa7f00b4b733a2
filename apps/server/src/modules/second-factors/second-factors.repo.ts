import { sql } from 'kysely'
import { newId } from '../../core/ids.ts'
import { type Db, lock, type Tx } from '../../db/index.ts'
import type { PasskeyRow, SecondFactorRow } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'
import type { Holder } from '../sessions/sessions.service.ts'
import { columnOf } from './second-factors.access.ts'

// The holder comes from a session, a proven password or a challenge, so these functions take no other scope.

export const findFactor = (db: Db, holder: Holder): Promise<SecondFactorRow | undefined> =>
  db.selectFrom('second_factors').selectAll().where(columnOf(holder), '=', holder.id).executeTakeFirst()

export const lockFactor = (tx: Tx, holder: Holder): Promise<SecondFactorRow | undefined> =>
  lock(
    tx,
    tx.selectFrom('second_factors').selectAll().where(columnOf(holder), '=', holder.id),
  ).executeTakeFirst()

/** Locks the row of a holder, which its first factor makes. */
export async function makeFactor(tx: Tx, holder: Holder, now: number): Promise<SecondFactorRow> {
  await tx
    .insertInto('second_factors')
    .values({
      id: newId('fac'),
      account_id: holder.kind === 'account' ? holder.id : null,
      reseller_id: holder.kind === 'reseller' ? holder.id : null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column(columnOf(holder)).doNothing())
    .execute()
  const row = await lockFactor(tx, holder)
  if (!row) throw new Error('the second factors of a holder are gone')
  return row
}

export async function updateFactor(
  tx: Tx,
  id: string,
  change: Partial<
    Pick<SecondFactorRow, 'active' | 'totp_sealed' | 'totp_step' | 'pending_sealed' | 'pending_until'>
  >,
): Promise<void> {
  await tx.updateTable('second_factors').set(change).where('id', '=', id).execute()
}

/** Accepts a time step of a secret once; false if a code of this step or a later one was accepted before. */
export async function takeStep(tx: Tx, id: string, sealed: string, step: number): Promise<boolean> {
  const taken = await tx
    .updateTable('second_factors')
    .set({ totp_step: step })
    .where('id', '=', id)
    .where('totp_step', '<', step)
    .where('totp_sealed', '=', sealed)
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}

export const listPasskeys = (db: Db, factorId: string): Promise<PasskeyRow[]> =>
  db
    .selectFrom('passkeys')
    .selectAll()
    .where('factor_id', '=', factorId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Finds a passkey across all holders: its answer alone signs in. */
export const findPasskey = (db: Db, credentialId: string): Promise<PasskeyRow | undefined> =>
  db.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()

export const findFactorById = (db: Db, id: string): Promise<SecondFactorRow | undefined> =>
  db.selectFrom('second_factors').selectAll().where('id', '=', id).executeTakeFirst()

export async function insertPasskey(tx: Tx, passkey: PasskeyRow): Promise<void> {
  await tx.insertInto('passkeys').values(passkey).execute()
}

export async function deletePasskey(
  tx: Tx,
  factorId: string,
  id: string,
): Promise<{ name: string } | undefined> {
  return tx
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('factor_id', '=', factorId)
    .returning('name')
    .executeTakeFirst()
}

/** Stores the count of an accepted signature; false if it does not grow, as with a copied authenticator. */
export async function takeCounter(tx: Tx, id: string, counter: number, now: number): Promise<boolean> {
  const taken = await tx
    .updateTable('passkeys')
    .set({ counter, last_used_at: now })
    .where('id', '=', id)
    .where(({ eb, or, and, val }) =>
      or([eb('counter', '<', counter), and([eb('counter', '=', 0), eb(val(counter), '=', 0)])]),
    )
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}

export async function countRecoveryCodes(db: Db, factorId: string): Promise<number> {
  const { n } = await db
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('factor_id', '=', factorId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

export async function replaceRecoveryCodes(tx: Tx, factorId: string, hashes: string[]): Promise<void> {
  await tx.deleteFrom('recovery_codes').where('factor_id', '=', factorId).execute()
  await tx
    .insertInto('recovery_codes')
    .values(hashes.map((code_hash) => ({ code_hash, factor_id: factorId })))
    .execute()
}

export async function takeRecoveryCode(tx: Tx, factorId: string, hash: string): Promise<boolean> {
  const taken = await tx
    .deleteFrom('recovery_codes')
    .where('code_hash', '=', hash)
    .where('factor_id', '=', factorId)
    .returning('code_hash')
    .executeTakeFirst()
  return taken !== undefined
}

export interface Challenge {
  factor_id: string
  purpose: string
  state: string
}

const challengesMax = 50

/** Deletes the oldest ones beyond those that a holder can have. Those stored as used stay, or they would work again. */
export async function insertChallenge(
  tx: Tx,
  challenge: Challenge & { token_hash: string; created_at: number; expires_at: number },
): Promise<void> {
  await tx.insertInto('factor_challenges').values(challenge).execute()
  const oldest = tx
    .selectFrom('factor_challenges')
    .select('token_hash')
    .where('factor_id', '=', challenge.factor_id)
    .where('purpose', '<>', 'spent')
    .orderBy('created_at', 'desc')
    .orderBy('token_hash')
    .limit(1000)
    .offset(challengesMax)
  await tx
    .deleteFrom('factor_challenges')
    .where('token_hash', 'in', oldest)
    .where('token_hash', '<>', challenge.token_hash)
    .execute()
}

export const findChallenge = (db: Db, tokenHash: string, now: number): Promise<Challenge | undefined> =>
  db
    .selectFrom('factor_challenges')
    .select(['factor_id', 'purpose', 'state'])
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()

/** Uses a challenge; false if it was used or has expired meanwhile. */
export async function takeChallenge(tx: Tx, tokenHash: string, now: number): Promise<boolean> {
  const taken = await tx
    .deleteFrom('factor_challenges')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .returning('token_hash')
    .executeTakeFirst()
  return taken !== undefined
}

/** Stores that a challenge without a row was used; false if it was used before. */
export async function spendChallenge(
  tx: Tx,
  challenge: { token_hash: string; factor_id: string; created_at: number; expires_at: number },
): Promise<boolean> {
  const spent = await tx
    .insertInto('factor_challenges')
    .values({ ...challenge, purpose: 'spent', state: '{}' })
    .onConflict((conflict) => conflict.column('token_hash').doNothing())
    .returning(sql<number>`1`.as('one'))
    .executeTakeFirst()
  return spent !== undefined
}

/** Removes what a lost secret key sealed. Passkeys stay: they are public keys. */
export async function loseKey({ tx }: LostKey): Promise<Pick<LostKeyReport, 'factors'>> {
  const rows = await tx
    .selectFrom('second_factors as f')
    .leftJoin('accounts as a', 'a.id', 'f.account_id')
    .select(['a.email', 'f.reseller_id'])
    .where('f.totp_sealed', 'is not', null)
    .execute()
  await tx.deleteFrom('recovery_codes').execute()
  await tx.updateTable('second_factors').set({ totp_sealed: null, pending_sealed: null }).execute()
  await tx
    .deleteFrom('second_factors')
    .where('id', 'not in', (eb) => eb.selectFrom('passkeys').select('factor_id'))
    .execute()
  return { factors: rows.map(({ email, reseller_id }) => email ?? reseller_id ?? '') }
}
