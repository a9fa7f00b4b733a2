import type { Clock } from '../../core/clock.ts'
import { newPassword, normalizeEmail } from '../../core/ids.ts'
import { operator } from '../../core/networks/caller.ts'
import { Passwords } from '../../core/passwords/passwords.ts'
import { type Database, transactAsOperator } from '../../db/index.ts'
import { revokeResets } from '../password-resets/password-resets.access.ts'
import { removeFactors } from '../second-factors/second-factors.access.ts'
import { endSessions } from '../sessions/sessions.service.ts'
import * as access from './resellers.access.ts'
import { holderOf } from './resellers.service.ts'

/**
 * Sets a new password and ends every session; a suspended reseller stays suspended. Undefined if there is no such
 * account.
 */
export async function resetResellerPassword(
  { db }: Pick<Database, 'db'>,
  clock: Clock,
  email: string,
): Promise<{ email: string; password: string } | undefined> {
  const password = newPassword()
  const passwordHash = await new Passwords().hash(password, operator)
  const found = await access.findByEmail(db, normalizeEmail(email))
  if (!found) return undefined
  return transactAsOperator(db, { ownerId: found.owner_id, now: clock.now() }, async (write) => {
    const { tx } = write
    await access.setPasswordHash(tx, found.id, passwordHash)
    await endSessions(tx, holderOf(found.id))
    await revokeResets(tx, 'reseller', found.id)
    write.record('reseller.password_reset', found.id, {}, found.app_id)
    return { email: found.email, password }
  })
}

/** Removes all second factors and ends every session. Undefined if there is no such account. */
export async function resetResellerFactors(
  { db }: Pick<Database, 'db'>,
  clock: Clock,
  email: string,
): Promise<{ email: string; isRemoved: boolean } | undefined> {
  const found = await access.findByEmail(db, normalizeEmail(email))
  if (!found) return undefined
  return transactAsOperator(db, { ownerId: found.owner_id, now: clock.now() }, async (write) => {
    const isRemoved = await removeFactors(write.tx, holderOf(found.id))
    await endSessions(write.tx, holderOf(found.id))
    write.record('reseller.second_factors_removed', found.id, {}, found.app_id)
    return { email: found.email, isRemoved }
  })
}
